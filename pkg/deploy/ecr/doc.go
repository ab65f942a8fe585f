// Package ecr is the driver of image-pull Secrets, in three modes: an ECR token minted with
// the AWS SDK and renewed before it expires; a copy that a replicator makes, which is only
// waited for; a registry's entry copied from a docker config file.
//
// The content of a Secret never reaches an observation, facts, a log or an error: a keyed
// fingerprint stands for it. Tokens are minted only at apply, and only when the Secret is
// absent, lacks the registry or is close to expiry. Failures are wrapped errors that name the
// Secret, the registry, and the endpoint or file that was tried.
package ecr
