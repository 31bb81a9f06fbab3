package ghtest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestHostileArchives(t *testing.T) {
	names := func(archive []byte) string {
		r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, f := range r.File {
			out = append(out, fmt.Sprintf("%s %v %d %d", f.Name, f.Mode(), f.UncompressedSize64, f.Flags&encryptedFlag))
		}
		return strings.Join(out, "; ")
	}
	for want, archive := range map[string][]byte{
		"a.json -rw-r--r-- 2 0":                                          ZipFile("a.json", []byte("{}")),
		"a.json -rw-r--r-- 512 0":                                        ZipBomb("a.json", 1<<20),
		"a.json -rw-r--r-- 1048576 0":                                    ZipRatio("a.json", 1<<20),
		"results.json -rw-r--r-- 2 0; ../a.json -rw-r--r-- 2 0":          ZipSlip("../a.json", []byte("{}")),
		`results.json -rw-r--r-- 2 0; C:\a.json -rw-r--r-- 2 0`:          ZipSlip(`C:\a.json`, []byte("{}")),
		"a.json Lrwxrwxrwx 11 0":                                         ZipSymlink("a.json", "/etc/passwd"),
		"a.json -rw-r--r-- 1 0; a.json -rw-r--r-- 1 0":                   ZipDuplicates("a.json", []byte("1"), []byte("2")),
		"a.json -rw-r--r-- 2 1":                                          ZipEncrypted("a.json", []byte("{}")),
		"file000000.json -rw-r--r-- 2 0; file000001.json -rw-r--r-- 2 0": ZipMany(2),
		zip.ErrFormat.Error():                                            ZipTruncated(ZipFile("a.json", []byte("{}")), 10),
	} {
		if got := names(archive); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, n := range []int64{1, 1<<20 - 1, 1 << 20, 3<<20 + 17} {
		text, err := firstFile(ZipRatio("a.json", n)) // checks size and checksum
		if err != nil || int64(len(text)) != n || len(bytes.Trim(text, "\x00")) != 0 {
			t.Errorf("%d bytes, want %d: %v", len(text), n, err)
		}
	}
	bomb := ZipBomb("a.json", 256<<20)
	if len(bomb) > 512<<10 {
		t.Errorf("the bomb has %d bytes itself", len(bomb))
	}
	if !bytes.Equal(bomb, ZipBomb("a.json", 256<<20)) {
		t.Errorf("two bombs differ")
	}
	if _, err := firstFile(ZipBomb("a.json", 1<<20)); err == nil {
		t.Errorf("the bomb is as large as it says")
	}
}
