package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
)

const (
	keyDigestLen = 10 // hex digits: 40 bits, a collision in 10,000 cells is a chance of 5e-5
	keyNameLen   = 60 // bytes of the cleaned name; a key stays far below the 255 of a folder name
)

// KeyFor names the folder of a cell: the first digits of a digest of its
// identity, then as much of its printed name as is safe and readable. A cell may
// be named anything ("..", a NUL, 300 bytes), so only the digest tells two cells
// apart, and it stands first: a key is never "..", hidden, or read as an option.
func KeyFor(id result.ID, name string) string {
	h := sha256.New()
	for _, field := range []string{id.Benchmark, id.Variant, id.Input, id.Build} {
		// Lengths keep ("a", "bc") and ("ab", "c") apart.
		var length [8]byte
		binary.LittleEndian.PutUint64(length[:], uint64(len(field)))
		h.Write(length[:])
		h.Write([]byte(field))
	}
	digest := hex.EncodeToString(h.Sum(nil))[:keyDigestLen]
	return digest + "-" + CleanName(name)
}

// CleanName keeps letters, digits, dot, underscore and hyphen of ASCII; each
// stretch of anything else becomes one underscore.
func CleanName(name string) string {
	var b strings.Builder
	replaced := false
	for i := 0; i < len(name) && b.Len() < keyNameLen; i++ {
		c := name[i]
		if isKeyByte(c) {
			b.WriteByte(c)
			replaced = false
		} else if !replaced {
			b.WriteByte('_')
			replaced = true
		}
	}
	return b.String()
}

func isKeyByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}
