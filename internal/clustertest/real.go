package clustertest

// NominalAddresses has pods and Services listen on the addresses that the API shows, not on loopback ones. It is for a
// test inside a network namespace of its own (test/real/enter.sh).
func NominalAddresses() Option { return flag("--nominal-addresses=true") }

// Runtime has the containers of an image, given by the last element of its name without tag, played by a command.
func Runtime(image, command string) Option { return flag("--runtime", image+"="+command) }

// Timeout sets how long the cluster may take to be ready, as time.ParseDuration reads it.
func Timeout(d string) Option { return flag("--timeout", d) }
