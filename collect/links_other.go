//go:build !unix

package collect

import "io/fs"

// links is not known here.
func links(fs.FileInfo) uint64 { return 0 }
