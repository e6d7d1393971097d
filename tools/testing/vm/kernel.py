# SPDX-License-Identifier: GPL-2.0
"""Finds or fetches the kernel that a guest boots, and packs its initramfs."""
import fcntl
import glob
import hashlib
import lzma
import os
import re
import shutil
import stat
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.environ.get("SMC_CACHE", "/var/cache/smc")
# The modules that the guest needs to mount the host's root and to communicate. A kernel may have
# any of them built in.
MODULES = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay", "virtio_net")
# The magic number of xz. Debian's images are packed with xz.
XZ = b"\xfd7zXZ\0"
# The ELF note XEN_ELFNOTE_PHYS32_ENTRY (type 18): sizes of name and entry, type, name.
PVH_NOTE = re.compile(rb"\x04\0\0\0[\x04\x08]\0\0\0\x12\0\0\0Xen\0")


class Error(Exception):
    """The environment lacks something; the text says what to do."""


# The version of a kernel for another architecture, in the form of --kver: s390x-6.1
FOREIGN = re.compile(r"(s390x|arm64|i386)-(.+)")
# Kernels that vm/debug-kernel builds, in the form of --kver: um, um-7.3, um-plain, small-7.3
BUILT = re.compile(r"(um-plain|um|small)(?:-([\d.]+))?")


class Kernel:
    """A bootable kernel: its version, its image, its /lib/modules/<version>, and the root of its
    guest. machine: its architecture, if the host's programs do not run there. emulator: the one
    that it starts under."""
    emulator = None

    def __init__(self, version, image, modules, machine="", root="/"):
        self.version, self.image, self.modules, self.root = version, image, modules, root
        self.machine, self.big_endian = machine, machine == "s390x"


def debug(flavour, series=""):
    """Returns (directory, kernel) of a kernel that vm/debug-kernel builds, if it has not yet:
    "debug", "kcsan", "small", "um", "um-plain"; 6.12, or another series."""
    done = subprocess.run([f"{HERE}/debug-kernel", flavour, *([series] if series else [])],
                          text=True, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise Error(f"the debug kernel {series} did not build".replace("  ", " "))
    directory = done.stdout.strip()
    modules = glob.glob(f"{directory}/installed/lib/modules/*")[0]
    image = "linux" if flavour.startswith("um") else "arch/x86/boot/bzImage"
    return directory, Kernel(os.path.basename(modules), f"{directory}/{image}", modules)


def machines(versions):
    """Returns the other architectures that these kernels are for."""
    return sorted({found[1] for version in versions if (found := FOREIGN.fullmatch(version))})


def foreign(machine, what):
    """Returns the directory of a kernel for another architecture, or of programs for it: "6.1",
    "root"."""
    done = subprocess.run([f"{HERE}/foreign", machine, what], text=True, stdout=subprocess.PIPE,
                          check=False)
    if done.returncode:
        raise Error(f"Debian's {what} for {machine} is not available")
    return done.stdout.strip()


def of_foreign(machine, version):
    directory = foreign(machine, version)
    modules = glob.glob(f"{directory}/installed/lib/modules/*")[0]
    return Kernel(os.path.basename(modules), f"{directory}/image", modules, machine,
                  foreign(machine, "root"))


def full_version(short):
    """6.12 -> 6.12.117+deb12-amd64: the newest one whose headers are installed."""
    if built := BUILT.fullmatch(short):
        return debug(*built.groups(default=""))[1].version
    if other := FOREIGN.fullmatch(short):
        return of_foreign(*other.groups()).version
    have = [os.path.basename(os.path.dirname(d)) for d in glob.glob("/lib/modules/*/build")]
    if short in have:
        return short
    match = [v for v in have if v.startswith(short + ".") or v.startswith(short + "-")]
    if not match:
        raise Error(f"no headers for a kernel {short} in /lib/modules (there are: "
                    f"{' '.join(sorted(have)) or 'none'})")
    return max(match, key=lambda v: [int(n) for n in re.findall(r"\d+", v)])


def find(version):
    """Returns the kernel of this version: the one installed on the host, its Debian package
    unpacked, one that is built here, or one for another architecture."""
    if built := BUILT.fullmatch(version):
        return debug(*built.groups(default=""))[1]
    if other := FOREIGN.fullmatch(version):
        return of_foreign(*other.groups())
    version = full_version(version)
    image, modules = f"/boot/vmlinuz-{version}", f"/lib/modules/{version}"
    if os.access(image, os.R_OK) and os.path.isdir(f"{modules}/kernel"):
        return Kernel(version, image, modules)
    root = fetch(version)
    return Kernel(version, f"{root}/boot/vmlinuz-{version}", f"{root}/lib/modules/{version}")


def output_of(*argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout.strip()


def fetch(version):
    """Unpacks linux-image-<version> below the cache; the host's boot configuration does not
    change."""
    package = f"linux-image-{version}"
    # Modules are built with the headers, so the image must come from the same upload.
    upload = output_of("dpkg-query", "-W", "-f", "${Version}", f"linux-headers-{version}")
    root = f"{CACHE}/image-{version}_{upload or 'any'}"
    try:
        os.makedirs(CACHE, exist_ok=True)
        lock = open(f"{CACHE}/fetch.lock", "w")
    except OSError as error:
        raise Error(f"cannot write {CACHE} ({error.strerror}): run once as root, or set "
                    "SMC_CACHE to a directory of yours") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.isdir(root):
            return root
        print(f"Fetching {package} {upload} into {CACHE}", flush=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as tmp:
            name = f"{package}={upload}" if upload else package
            get = subprocess.run(["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download",
                                  name], cwd=tmp, text=True, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, check=False)
            debs = glob.glob(f"{tmp}/*.deb")
            if get.returncode or not debs:
                raise Error(f"cannot fetch the package {name}: "
                            f"{(get.stderr.strip().splitlines() or ['no network?'])[-1]}")
            subprocess.run(["dpkg", "-x", debs[0], f"{tmp}/root"], check=True)
            # A /usr-merged package has its modules below usr/.
            if not os.path.isdir(f"{tmp}/root/lib/modules"):
                os.rename(f"{tmp}/root/usr/lib", f"{tmp}/root/lib")
            subprocess.run(["depmod", "-b", f"{tmp}/root", version], check=True)
            os.chmod(f"{tmp}/root", 0o755)
            os.rename(f"{tmp}/root", root)
    return root


def load_order(kernel):
    """Returns the paths of the modules for the initramfs, dependencies first."""
    depends = {}
    with open(f"{kernel.modules}/modules.dep") as lines:
        for line in lines:
            path, _, needs = line.partition(":")
            depends[path] = needs.split()
    by_name = {os.path.basename(p).split(".ko")[0]: p for p in depends}
    order = []

    def add(path):
        for need in depends[path]:
            add(need)
        if path not in order:
            order.append(path)

    for name in MODULES:
        if name in by_name:
            add(by_name[name])
    return order


def unpacked(kernel):
    """Returns the kernel unpacked, because unpacking it takes the emulator longer than the rest of
    the boot. QEMU starts it without the unpacking code. The result is kept below the cache. Returns
    the image itself if unpacking fails, if the kernel has no entry for that (CONFIG_PVH), or for
    another architecture: on s390x the unpacking code does more, and the image for arm64 is not
    packed."""
    if kernel.machine:
        return kernel.image
    image = os.stat(kernel.image)
    target = f"{CACHE}/vmlinux-{kernel.version}-{image.st_size}-{image.st_mtime_ns}"
    if os.path.exists(target):
        return target
    data = read(kernel.image)
    start = data.find(XZ)
    try:
        vmlinux = lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(data[start:]) if start > 0 else b""
    except lzma.LZMAError:
        return kernel.image
    if vmlinux[:4] != b"\x7fELF" or not PVH_NOTE.search(vmlinux):
        return kernel.image
    os.makedirs(CACHE, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=CACHE, delete=False) as file:
        file.write(vmlinux)
    os.rename(file.name, target)
    return target


def newc(name, mode, data=b"", device=(0, 0)):
    """Returns one entry of a cpio archive."""
    raw = name.encode() + b"\0"
    head = "070701" + "".join(f"{n:08x}" for n in (
        0, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(raw), 0))
    entry = head.encode() + raw
    entry += b"\0" * (-len(entry) % 4)
    return entry + data + b"\0" * (-len(data) % 4)


def initramfs(kernel, directory):
    """Packs init, busybox and the modules. The result is kept as long as none of them changes."""
    busybox = f"{kernel.root.rstrip('/')}/bin/busybox"
    if not os.path.exists(busybox):
        raise Error(f"{busybox} is missing (apt-get install busybox-static)")
    files = [(f"{kernel.modules}/{p}", os.path.basename(p)) for p in load_order(kernel)]
    init = f"{HERE}/init"
    key = hashlib.sha256()
    for path in [busybox, init, __file__] + [f[0] for f in files]:
        key.update(f"{path} {os.stat(path).st_size} {os.stat(path).st_mtime_ns}\n".encode())
    target = f"{directory}/initramfs-{kernel.version}-{key.hexdigest()[:12]}.cpio"
    if os.path.exists(target):
        return target

    archive = [newc(d, stat.S_IFDIR | 0o755) for d in ("bin", "dev", "modules")]
    archive.append(newc("dev/console", stat.S_IFCHR | 0o600, device=(5, 1)))
    archive.append(newc("bin/busybox", stat.S_IFREG | 0o755, read(busybox)))
    archive.append(newc("init", stat.S_IFREG | 0o755, read(init)))
    names = []
    for path, name in files:
        data = read(path)
        if name.endswith(".xz"):
            data, name = lzma.decompress(data), name[:-3]
        names.append(name)
        archive.append(newc(f"modules/{name}", stat.S_IFREG | 0o644, data))
    listing = "".join(name + "\n" for name in names).encode()
    archive.append(newc("modules/list", stat.S_IFREG | 0o644, listing))
    archive.append(newc("TRAILER!!!", 0))

    for old in glob.glob(f"{directory}/initramfs-{kernel.version}-*.cpio"):
        os.unlink(old)
    with tempfile.NamedTemporaryFile(dir=directory, delete=False) as out:
        out.write(b"".join(archive))
    os.rename(out.name, target)
    return target


def read(path):
    with open(path, "rb") as file:
        return file.read()


def copy_module(built, target):
    """Returns the path of a copy that a rebuild during the run cannot change; empty if there is no
    module."""
    if not os.path.exists(built):
        return ""
    shutil.copyfile(built, target)
    return target
