// Package diagnostic presents hcl.Diagnostics: as boxed text for people (WriteText), as the
// JSON that `terraform validate -json` would print (JSON), with the values of the variables
// involved and with "did you mean" (Nearest). It decides nothing about what is an error.
//
// Values marked with Sensitive are never printed, in no form, nor are values known only
// after apply. It returns an error only when the writer does.
package diagnostic
