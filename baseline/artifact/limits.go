package artifact

// Limits bound what is asked for and what is read: requests are shared by all
// workflows of a repository, and archives are written by the code under test.
// Zero fields take the defaults.
type Limits struct {
	Runs      int   // workflow runs looked at; default 1000, as many as GitHub lists
	Listings  int   // of them, those whose artifacts are listed; default 20 more than sessions are wanted
	Artifacts int   // looked at of one workflow run; default 2000
	Downloads int   // archives; default 10 more than sessions are wanted; of Results 64
	Archive   int64 // bytes of an archive as it is stored; default 64 MiB
	Document  int64 // bytes of a results document; default 256 MiB
	Documents int64 // bytes of all that are kept together; default 512 MiB
	Entries   int   // of an archive; default 100
}

// Defaults that depend on nothing.
const (
	defaultRuns      = 1000
	defaultArtifacts = 2000
	defaultResults   = 64
	defaultArchive   = 64 << 20
	defaultDocument  = 256 << 20
	defaultDocuments = 512 << 20
	defaultEntries   = 100
)

// filled returns the limits with their defaults, where sessions are wanted.
func (l Limits) filled(sessions int) Limits {
	setDefault(&l.Runs, defaultRuns)
	setDefault(&l.Listings, sessions+20)
	setDefault(&l.Artifacts, defaultArtifacts)
	setDefault(&l.Downloads, sessions+10)
	setDefault(&l.Archive, defaultArchive)
	setDefault(&l.Document, defaultDocument)
	setDefault(&l.Documents, defaultDocuments)
	setDefault(&l.Entries, defaultEntries)
	return l
}

func setDefault[T int | int64](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}
