# SPDX-License-Identifier: GPL-2.0
"""The processes of Open MPI pass messages around. Calls the library of C directly."""
import ctypes
import hashlib

mpi = ctypes.CDLL("libmpi.so.40", ctypes.RTLD_GLOBAL)
WORLD = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world"))
BYTE = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_byte"))
SIZES = [0, 1, 100, 4096, 65536, 1 << 20, 4 << 20]


def asked(function):
    value = ctypes.c_int()
    function(WORLD, ctypes.byref(value))
    return value.value


def content(size, rank):
    """Returns what this process sends: a message has passed this many processes before."""
    return hashlib.shake_128(b"%d %d" % (size, rank)).digest(size)


def send(data, to):
    mpi.MPI_Send(data, len(data), BYTE, to, len(data), WORLD)


def receives(data, source):
    """Receives a message. Is it this one?"""
    got = ctypes.create_string_buffer(len(data) + 1)
    mpi.MPI_Recv(got, len(data), BYTE, source, len(data), WORLD, None)
    return got.raw[:-1] == data


def main():
    mpi.MPI_Init(None, None)
    rank, ranks = asked(mpi.MPI_Comm_rank), asked(mpi.MPI_Comm_size)
    for size in SIZES:
        if rank == 0:
            send(content(size, 0), 1)
            print(size, receives(content(size, ranks - 1), ranks - 1))
        elif receives(content(size, rank - 1), rank - 1):
            send(content(size, rank), (rank + 1) % ranks)
        else:
            mpi.MPI_Abort(WORLD, 1)
    mpi.MPI_Finalize()


if __name__ == "__main__":
    main()
