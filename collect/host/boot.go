package host

import (
	"crypto/sha256"
	"encoding/hex"
)

// Boot returns a word that is the same until the machine is started again; empty
// where the kernel does not say. It is a digest: the kernel's own id is unique in
// the world, and nobody needs to know it.
func Boot(root string) string {
	r := reader{root: root}
	id := r.text("proc/sys/kernel/random/boot_id")
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("perfweir boot " + id))
	return hex.EncodeToString(sum[:6])
}
