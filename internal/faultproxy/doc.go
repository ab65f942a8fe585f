// Package faultproxy stands between a client and a real Kubernetes API server and spoils what a
// test tells it to spoil: real TLS and real HTTP on both sides, so that the client meets refused
// connections, torn bodies and silence as it would in the world, and everything that is not
// spoiled is answered by the real server. It also counts: every request is logged.
package faultproxy
