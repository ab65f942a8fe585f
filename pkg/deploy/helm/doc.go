// Package helm is the driver of Helm releases, in process, through the Helm v3 SDK.
//
// At plan a chart's version is resolved and pinned with its digest, the chart is rendered
// with the cluster's answers to lookup, and every rendered object is compared with live,
// custom resources included. At apply exactly that is installed or upgraded; what drifted
// is healed. Readiness is judged by the Kubernetes driver's rules, not by Helm's.
//
// Releases stay usable by the helm command line and the other way round. Nothing is written
// to the user's Helm configuration; charts are kept in a private cache by digest. Failures are
// wrapped errors that name the release, the chart and the repository that was tried.
package helm
