// SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note

// A server that sends back what it gets, and a client that says over what.
//
//	go build echo.go
//	./echo 7000 &
//	./echo 7000 127.0.0.1
//
// The package net cannot be told a protocol, but it takes a socket that is connected, or listens.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

const (
	ipprotoSMC  = 256
	solSMC      = 286
	smcSockInfo = 0x100
)

type sockInfo struct{ mode, reason, peerDiagnosis, state uint32 }

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "echo:", err)
		os.Exit(1)
	}
}

// The module is loaded by this call. Without one, or where it is forbidden, TCP will do.
func makeSocket() int {
	how := syscall.SOCK_STREAM | syscall.SOCK_CLOEXEC
	fd, err := syscall.Socket(syscall.AF_INET, how, ipprotoSMC)
	if err != nil {
		fd, err = syscall.Socket(syscall.AF_INET, how, 0)
	}
	check(err)
	return fd
}

// Only for those who are curious: a program need not know.
func mode(fd int) string {
	var info sockInfo
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := syscall.Syscall6(syscall.SYS_GETSOCKOPT, uintptr(fd), solSMC, smcSockInfo,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return "TCP, without SMC in this kernel"
	}
	if info.mode == 2 {
		return fmt.Sprintf("TCP, reason %#08x", info.reason)
	}
	return [...]string{"undecided", "SMC-R", "TCP", "SMC-D"}[info.mode&3]
}

func serve(port int) {
	fd := makeSocket()
	check(syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	check(syscall.Bind(fd, &syscall.SockaddrInet4{Port: port}))
	check(syscall.Listen(fd, 16))
	listener, err := net.FileListener(os.NewFile(uintptr(fd), "listener"))
	check(err)
	fmt.Println("listening")
	for {
		connection, err := listener.Accept()
		check(err)
		go func() {
			io.Copy(connection, connection)
			connection.Close()
		}()
	}
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: echo PORT [ADDRESS]")
		os.Exit(2)
	}
	port, err := strconv.Atoi(os.Args[1])
	check(err)
	if len(os.Args) == 2 {
		serve(port)
	}
	to := &syscall.SockaddrInet4{Port: port}
	copy(to.Addr[:], net.ParseIP(os.Args[2]).To4())
	fd := makeSocket()
	check(syscall.Connect(fd, to))
	what := mode(fd)
	connection, err := net.FileConn(os.NewFile(uintptr(fd), "connection"))
	check(err)
	_, err = connection.Write([]byte("hello"))
	check(err)
	back := make([]byte, 5)
	_, err = io.ReadFull(connection, back)
	check(err)
	fmt.Println(what)
}
