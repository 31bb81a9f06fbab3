package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a record: a journal may come from a folder that the code under
// test could write to.
const maxLine = 16 << 20

// Read reads the whole records of a journal and says how many bytes after them
// were left out: what follows the last newline, and a last line that is not JSON
// (a power cut may leave zero bytes). Such a line anywhere else means that the
// file was damaged, and is an error that names the line. The first record opens
// the journal and names its schema.
func Read(r io.Reader) (records []Record, dropped int64, err error) {
	in := bufio.NewReaderSize(r, 1<<16)
	var torn error // why the line before is not JSON
	for number := 1; ; number++ {
		line, readErr := readLine(in)
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return nil, 0, fmt.Errorf("line %d: %w", number, readErr)
		}
		if readErr != nil { // what is there has no newline
			return records, dropped + int64(len(line)), nil
		}
		if torn != nil {
			return nil, 0, torn
		}
		text := line[:len(line)-1]
		if !json.Valid(text) {
			torn = fmt.Errorf("line %d: not a JSON record, and records follow it: the file is damaged", number)
			dropped = int64(len(line))
			continue
		}
		rec, err := decode(text)
		if err == nil && (rec.Open != nil) != (number == 1) {
			err = errors.New("the first record, and no other, opens a journal")
		}
		if err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", number, err)
		}
		records = append(records, rec)
	}
}

// readLine returns a line with its newline; without one only with io.EOF.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("record is longer than %d MiB", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
