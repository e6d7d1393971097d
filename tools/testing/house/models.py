# SPDX-License-Identifier: GPL-2.0
"""The models of the hand-overs and the code refer to each other: a barrier names the step of the
model that needs it, and a model names the functions that it represents."""
import os
import re

import tree

MODELS = "tools/testing/selftests/smc/model"
STEP = re.compile(r'step "([^"]+)"')
NAMED = re.compile(r"model/(\w+)\.pml: ([\w' ]+)")
FUNCTION = re.compile(r"\b(\w+)\(\)")
# Functions of the kernel, which the models represent as documented.
KERNEL = set("""__wake_up add_wait_queue cmpxchg finish_wait poll pollwake prepare_to_wait release_sock
schedule skwq_has_sleeper sock_poll_wait sock_wake_async test_and_clear_bit try_to_wake_up waitqueue_active""".split())


def texts():
    """Returns {model: its text}."""
    return {os.path.basename(path)[:-4]: tree.read(path)
            for path in tree.files(MODELS, ends=(".pml",))}


def steps():
    """A comment of the module names each step of a model, and each comment names an existing
    step."""
    there = {(model, step) for model, text in texts().items() for step in STEP.findall(text)}
    named = {(model, step.strip()) for path in tree.files("net/smc")
             for model, step in NAMED.findall(tree.read(path))}
    wrong = [f"model/{model}.pml: {step}: no comment names this step"
             for model, step in sorted(there - named)]
    wrong += [f"a comment names model/{model}.pml: {step}, which does not exist"
              for model, step in sorted(named - there)]
    return "\n".join(wrong if len(there) > 10 else ["hardly any step was found"])


def functions():
    """Each function that a model names exists."""
    source = "\n".join(tree.read(path) for path in tree.files("net/smc"))
    return "\n".join(f"{model}.pml names {name}(), which does not exist"
                     for model, text in texts().items()
                     for name in sorted(set(FUNCTION.findall(text)) - KERNEL)
                     if f"inline {name}(" not in text and f"proctype {name}(" not in text and
                     not re.search(rf"\b{name}\(", source))


def cases():
    return [("comments at the barriers name the steps of the models", steps),
            ("the functions that the models name exist", functions)]
