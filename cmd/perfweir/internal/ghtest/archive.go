package ghtest

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"hash/crc32"
	"io/fs"
)

// Entry is one entry of an archive, hostile or not.
type Entry struct {
	Name string // as it is written: "../x", "/x", `..\x`
	Data []byte
	Mode fs.FileMode // zero: a plain file
	// Inflated is how many zero bytes the entry holds instead of Data.
	Inflated int64
	// Declared is the size that the header tells; zero: the true one.
	Declared  uint64
	Encrypted bool // the flag alone
}

// encryptedFlag is bit 0 of a zip entry's flags.
const encryptedFlag = 0x1

// Zip packs entries in the order given, whatever they are called: names may
// escape, or be there twice. The same entries give the same bytes.
func Zip(entries ...Entry) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		e.write(w)
	}
	must(w.Close())
	return b.Bytes()
}

// ZipFile packs one plain file.
func ZipFile(name string, data []byte) []byte { return Zip(Entry{Name: name, Data: data}) }

func (e Entry) write(w *zip.Writer) {
	size, sum, packed := e.deflate()
	h := &zip.FileHeader{Name: e.Name, Method: zip.Deflate, CRC32: sum, CompressedSize64: uint64(len(packed)), UncompressedSize64: size}
	h.SetMode(or(e.Mode, 0o644))
	h.UncompressedSize64 = or(e.Declared, size)
	if e.Encrypted {
		h.Flags |= encryptedFlag
	}
	f, err := w.CreateRaw(h)
	must(err)
	_, err = f.Write(packed)
	must(err)
}

// deflate packs the content and tells its true size and checksum.
func (e Entry) deflate() (size uint64, sum uint32, packed []byte) {
	if e.Inflated > 0 {
		return uint64(e.Inflated), crcOfZeros(e.Inflated), deflateZeros(e.Inflated)
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	must(err)
	_, err = w.Write(e.Data)
	must(err)
	must(w.Close())
	return uint64(len(e.Data)), crc32.ChecksumIEEE(e.Data), b.Bytes()
}

// zeros are packed and summed in pieces of this many.
var zeros = make([]byte, 1<<20)

// deflateZeros packs n zero bytes. Every piece but the first packs to the same
// bytes, so that a bomb of gigabytes is made at once: one piece is repeated.
func deflateZeros(n int64) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	must(err)
	piece := func(size int64) []byte {
		from := b.Len()
		_, err := w.Write(zeros[:size])
		must(err)
		must(w.Flush())
		return bytes.Clone(b.Bytes()[from:])
	}
	pieces, rest := n/int64(len(zeros)), n%int64(len(zeros))
	out := piece(rest)
	if pieces > 0 {
		out = append(out, piece(int64(len(zeros)))...)
	}
	if pieces > 1 {
		out = append(out, bytes.Repeat(piece(int64(len(zeros))), int(pieces-1))...)
	}
	from := b.Len()
	must(w.Close())
	return append(out, b.Bytes()[from:]...)
}

func crcOfZeros(n int64) uint32 {
	var sum uint32
	for ; n > 0; n -= int64(len(zeros)) {
		sum = crc32.Update(sum, crc32.IEEETable, zeros[:min(n, int64(len(zeros)))])
	}
	return sum
}

// must stops on errors of writers that write to memory and cannot fail.
func must(err error) {
	if err != nil {
		panic("ghtest: " + err.Error())
	}
}

// ZipBomb inflates to far more than its header tells.
func ZipBomb(name string, inflated int64) []byte {
	return Zip(Entry{Name: name, Inflated: inflated, Declared: 512})
}

// ZipRatio is honest about its size, which is a thousand times that of the archive.
func ZipRatio(name string, inflated int64) []byte {
	return Zip(Entry{Name: name, Inflated: inflated})
}

// ZipSlip has a good file and one whose name leaves the folder.
func ZipSlip(name string, data []byte) []byte {
	return Zip(Entry{Name: "results.json", Data: data}, Entry{Name: name, Data: data})
}

// ZipSymlink has an entry that is a link to a place outside.
func ZipSymlink(name, target string) []byte {
	return Zip(Entry{Name: name, Data: []byte(target), Mode: fs.ModeSymlink | 0o777})
}

// ZipDuplicates has one name twice: readers that take the first and readers that
// take the last disagree.
func ZipDuplicates(name string, first, last []byte) []byte {
	return Zip(Entry{Name: name, Data: first}, Entry{Name: name, Data: last})
}

// ZipEncrypted has an entry that says it is encrypted.
func ZipEncrypted(name string, data []byte) []byte {
	return Zip(Entry{Name: name, Data: data, Encrypted: true})
}

// ZipMany has so many entries.
func ZipMany(count int) []byte {
	entries := make([]Entry, count)
	for i := range entries {
		entries[i] = Entry{Name: fmt.Sprintf("file%06d.json", i), Data: []byte("{}")}
	}
	return Zip(entries...)
}

// ZipTruncated is an archive without its last bytes.
func ZipTruncated(archive []byte, missing int) []byte {
	return bytes.Clone(archive[:max(0, len(archive)-missing)])
}
