// SPDX-License-Identifier: GPL-2.0

// A static program whose runtime polls sockets itself and does not use libc: an echo server and an
// HTTP server, and clients of both, which check what they receive.
//
//	smc_go serve ECHO HTTP		addresses with ports
//	smc_go echo ADDRESS MIB CONNECTIONS
//	smc_go get URL SHA256
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"os"
	"strconv"
)

const served = 4 << 20 // size of the file in bytes

// data returns the same bytes for the same seed.
func data(seed int64, length int) []byte {
	b := make([]byte, length)
	rand.New(rand.NewSource(seed)).Read(b)
	return b
}

func serve(echo, web string) error {
	listener, err := net.Listen("tcp4", echo)
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				// Not io.Copy(conn, conn), which is splice() and never wakes a poller.
				io.Copy(struct{ io.Writer }{conn}, struct{ io.Reader }{conn})
				conn.Close()
			}()
		}
	}()
	file := data(0, served)
	fmt.Printf("%x\n", sha256.Sum256(file))
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.Write(file) })
	return http.ListenAndServe(web, nil)
}

// roundTrip sends from one goroutine and receives in another.
func roundTrip(conn net.Conn, seed int64, length int) error {
	sent := data(seed, length)
	writing := make(chan error, 1)
	go func() {
		_, err := conn.Write(sent)
		writing <- err
	}()
	hash := sha256.New()
	if _, err := io.CopyN(hash, conn, int64(length)); err != nil {
		return err
	}
	if err := <-writing; err != nil {
		return err
	}
	if wanted := sha256.Sum256(sent); !bytes.Equal(hash.Sum(nil), wanted[:]) {
		return errors.New("other bytes came back")
	}
	return nil
}

// ends closes one direction and waits for the end of the other.
func ends(conn net.Conn) error {
	defer conn.Close()
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return err
	}
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return fmt.Errorf("%d bytes and %v instead of the end", n, err)
	}
	return nil
}

// echo keeps all connections open until its input ends, so that they can be checked.
func echo(address, mib, connections string) error {
	length, _ := strconv.Atoi(mib)
	count, _ := strconv.Atoi(connections)
	conns := make([]net.Conn, count)
	results := make(chan error)
	for i := range conns {
		var err error
		if conns[i], err = net.Dial("tcp4", address); err != nil {
			return err
		}
		go func(i int) { results <- roundTrip(conns[i], int64(i)+1, length<<20) }(i)
	}
	var worst error
	for range conns {
		if err := <-results; err != nil {
			worst = err
		}
	}
	fmt.Println("all is back")
	io.Copy(io.Discard, os.Stdin)
	for _, conn := range conns {
		if err := ends(conn); err != nil {
			worst = err
		}
	}
	return worst
}

func get(url, wanted string) error {
	for i := 0; i < 20; i++ { // on one connection
		answer, err := http.Get(url)
		if err != nil {
			return err
		}
		hash := sha256.New()
		_, err = io.Copy(hash, answer.Body)
		answer.Body.Close()
		if err != nil {
			return err
		}
		if got := fmt.Sprintf("%x", hash.Sum(nil)); got != wanted {
			return fmt.Errorf("%s instead of %s", got, wanted)
		}
	}
	return nil
}

func main() {
	err := errors.New("serve ECHO HTTP | echo ADDRESS MIB CONNECTIONS | get URL SHA256")
	switch {
	case len(os.Args) == 4 && os.Args[1] == "serve":
		err = serve(os.Args[2], os.Args[3])
	case len(os.Args) == 5 && os.Args[1] == "echo":
		err = echo(os.Args[2], os.Args[3], os.Args[4])
	case len(os.Args) == 4 && os.Args[1] == "get":
		err = get(os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "smc_go:", err)
		os.Exit(1)
	}
}
