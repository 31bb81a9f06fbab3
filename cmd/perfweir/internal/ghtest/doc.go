// Package ghtest is a fake of GitHub's REST API for tests: two listeners on the
// loopback, one for the API and one for the blob store that artifacts are
// downloaded from.
//
// A referee holds every request and every answer of the API against GitHub's own
// description of it (testdata/README.md). Where a request or an answer breaks the
// description, or a rule that the description does not tell, a Violation is
// recorded; New fails the test that has any. What the description does not tell
// and is enforced here:
//
//   - a comment over 65,536 characters is refused (422);
//   - query parameters and properties of bodies that the description does not
//     know are violations: GitHub ignores them in silence;
//   - User-Agent, Accept and X-GitHub-Api-Version must be sent;
//   - a token may do what its permissions say (403), a fork's token may only
//     read, an expired one may nothing (401);
//   - check runs are for apps, and for the app that made them (403);
//   - bytes of annotations are counted, their columns need a single line;
//   - an Authorization header at the blob host is refused (400), as the real one
//     does, and is a violation: the token was shown to somebody else;
//   - links to the blob host live for one minute, names of artifacts are unique in
//     a workflow run;
//   - a conversation may be locked (403), an issue gone (410).
//
// What is not modelled says so: a parameter that GitHub knows and the fake does
// not is a violation, never ignored.
//
// Stricter than GitHub on purpose: a public repository shows more to a token than
// its permissions say; pull requests of forks are never found by commit; comments
// of others may not be changed.
//
// Not seen at GitHub, only likely: that a locked conversation refuses changes of
// comments as it refuses new ones, the 140 characters of a status's description,
// and that a comment's length is in characters.
//
// It is imported by tests and by the stand, a small program for runs end to end.
package ghtest
