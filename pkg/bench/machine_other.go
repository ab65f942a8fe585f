//go:build !linux

package bench

func readMachine() machine { return machine{} }
