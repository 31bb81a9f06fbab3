package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Longest name that a token writes out, in bytes.
const longestToken = 100

// tokenOf writes a name so that it can stand in a hidden line and in an external
// id: letters, digits, ".", "_", "/" and single hyphens stay, other bytes are
// percent-encoded. It has no space, cannot end an HTML comment, and is never
// empty. Two names have two tokens: a long name ends in its digest.
func tokenOf(name string) string {
	if name == "" {
		return "-"
	}
	if len(name) > longestToken {
		sum := sha256.Sum256([]byte(name))
		return encode(name[:longestToken-20]) + "~" + hex.EncodeToString(sum[:8])
	}
	return encode(name)
}

func encode(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if plainByte(c) || c == '-' && i > 0 && name[i-1] != '-' {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

func plainByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '_' || c == '/'
}

// nameOf is the name behind a token, as far as the token has it: for people.
func nameOf(token string) string {
	if token == "-" {
		return ""
	}
	head, _, cut := strings.Cut(token, "~")
	var b strings.Builder
	for i := 0; i < len(head); i++ {
		if head[i] == '%' && i+2 < len(head) {
			if raw, err := hex.DecodeString(head[i+1 : i+3]); err == nil {
				b.WriteByte(raw[0])
				i += 2
				continue
			}
		}
		b.WriteByte(head[i])
	}
	if cut {
		b.WriteString("...")
	}
	return b.String()
}
