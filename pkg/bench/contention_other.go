//go:build !linux

package bench

func readContention() contention { return contention{} }
