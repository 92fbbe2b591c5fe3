"""Enough of CuPy to run the CUDA engine without a GPU: NumPy, and kernels compiled for the CPU.

``emulate.h`` runs the kernels thread by thread. What a GPU would do at the same time happens in
some order here: this shows what kernels compute, not whether they race.
"""

import ctypes
import hashlib
import re
import subprocess
import tempfile
import types
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
_KINDS = {"int": ctypes.c_int, "i64": ctypes.c_longlong}

argsort, ascontiguousarray, empty, sort, zeros = (
    np.argsort, np.ascontiguousarray, np.empty, np.sort, np.zeros
)  # fmt: skip


def asarray(values):
    return np.ascontiguousarray(values)


def asnumpy(values):
    return values


def get_default_memory_pool():
    return types.SimpleNamespace(free_bytes=lambda: 0, free_all_blocks=lambda: None)


class RawModule:
    """The kernels of a source, as a library of the C++ compiler's."""

    def __init__(self, code, options):
        self.code = code
        defines = [option for option in options if option.startswith("-D")]
        code = code.replace("extern __shared__ char memory[];", "char *memory = memory_of_block;")
        code = code.replace('extern "C" __global__', "__global__")
        self.signatures = {
            name: arguments.split(",")
            for name, arguments in re.findall(
                r"__global__ void(?:\s+__launch_bounds__\([^)]*\))?\s+(\w+)\(([^)]*)\)", code
            )
        }
        calls = [self._call(name, kinds) for name, kinds in self.signatures.items()]
        text = (HERE / "emulate.h").read_text() + code + "\n".join(calls)
        digest = hashlib.sha256((text + "".join(defines)).encode()).hexdigest()[:24]
        folder = Path(tempfile.gettempdir()) / "infosieve-emulated"
        folder.mkdir(exist_ok=True)
        library = folder / f"{digest}.so"
        if not library.exists():
            with tempfile.TemporaryDirectory() as fresh:
                source = Path(fresh) / "kernels.cpp"
                source.write_text(text)
                command = ["g++", "-O1", "-std=c++17", "-ffp-contract=off", "-shared", "-fPIC"]
                command += ["-w", *defines, str(source), "-o", f"{fresh}/k.so"]
                subprocess.run(command, check=True)
                Path(f"{fresh}/k.so").replace(library)
        self.library = ctypes.CDLL(str(library))

    @staticmethod
    def _call(name, arguments):
        names = ", ".join(a.split()[-1].lstrip("*") for a in arguments)
        listed = ", ".join(arguments)
        return (
            f'extern "C" void run_{name}(int gx, int gy, int threads, {listed}) '
            f"{{ launch(gx, gy, threads, [=] {{ {name}({names}); }}); }}\n"
        )

    def get_function(self, name):
        function = getattr(self.library, f"run_{name}")
        kinds = [a.split() for a in self.signatures[name]]

        class Kernel:
            max_dynamic_shared_size_bytes = 0

            def __call__(self, grid, block, arguments, shared_mem=0):
                assert len(arguments) == len(kinds), (name, len(arguments), len(kinds))
                sizes = [ctypes.c_int(v) for v in (*grid, 1)[:2]] + [ctypes.c_int(block[0])]
                given = []
                for kind, value in zip(kinds, arguments, strict=True):
                    if "*" in "".join(kind):
                        pointer = value.ctypes.data if isinstance(value, np.ndarray) else int(value)
                        given.append(ctypes.c_void_p(pointer))
                    else:
                        given.append(_KINDS[kind[0]](int(value)))
                function(*sizes, *given)

        return Kernel()


def _properties(number):
    return {"name": b"emulated"}


cuda = types.SimpleNamespace(
    Device=lambda: types.SimpleNamespace(attributes={"MaxSharedMemoryPerBlockOptin": 1 << 17}),
    nvrtc=types.SimpleNamespace(getVersion=lambda: (13, 0)),
    memory=types.SimpleNamespace(OutOfMemoryError=MemoryError),
    runtime=types.SimpleNamespace(
        driverGetVersion=lambda: 13_000,
        runtimeGetVersion=lambda: 13_000,
        getDeviceCount=lambda: 1,
        getDevice=lambda: 0,
        getDeviceProperties=_properties,
        memGetInfo=lambda: (1 << 30, 1 << 30),
    ),
)
