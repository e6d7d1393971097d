# SPDX-License-Identifier: GPL-2.0
"""The strict RDMA device (tools/testing/strict), which SMC_RDMA_TYPE=strict chooses instead of
soft-RoCE, for all devices of a guest and for both guests of a pair."""
import os
import subprocess

USED = os.environ.get("SMC_RDMA_TYPE") == "strict"
BUILD = os.path.abspath(f"{os.path.dirname(__file__)}/../../../strict/build")


def built(*kvers):
    """On the host: builds it for these kernels, if it is used. Returns whether that worked."""
    return not USED or not subprocess.run([BUILD, *dict.fromkeys(kvers)], check=False,
                                          stdout=subprocess.DEVNULL).returncode


def deafen(device, deaf):
    """What arrives at the device gets lost, until it hears again; TCP's packets do not."""
    with open(f"/sys/class/infiniband/{device}/deaf", "w", encoding="ascii") as file:
        file.write(f"{deaf:d}\n")
