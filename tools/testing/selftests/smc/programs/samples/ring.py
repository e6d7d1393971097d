# SPDX-License-Identifier: GPL-2.0
"""Two processes of Open MPI send messages back and forth. Calls the library of C directly."""
import ctypes
import sys

mpi = ctypes.CDLL("libmpi.so.40", ctypes.RTLD_GLOBAL)
WORLD = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world"))
BYTE = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_byte"))


def main():
    rank = ctypes.c_int()
    mpi.MPI_Init(None, None)
    mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
    for number, size in enumerate([0, 1, 100, 4096, 65536, 1 << 20] * 5):
        data = bytes([number]) * size
        got = ctypes.create_string_buffer(size + 1)
        if rank.value == 0:
            mpi.MPI_Send(data, size, BYTE, 1, number, WORLD)
            mpi.MPI_Recv(got, size, BYTE, 1, number, WORLD, None)
            print(size, got.raw[:size] == data)
        else:
            mpi.MPI_Recv(got, size, BYTE, 0, number, WORLD, None)
            mpi.MPI_Send(got, size, BYTE, 0, number, WORLD)
    mpi.MPI_Finalize()


if __name__ == "__main__":
    sys.exit(main())
