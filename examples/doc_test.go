// Package examples holds complete configurations. Its tests load, check, format and plan
// each of them offline, and hold the published one against the published manifests.
package examples_test
