//! Reads the lines of a logger's file in constant memory, because a file may have many millions of them.

use std::io::{self, Read};

/// Bytes per read, and length of the longest line.
const BUFFER_BYTES: usize = 1 << 18;

/// Largest number of digits: such numbers always fit into 64 bits.
const MOST_DIGITS: usize = 18;

/// One line: a sample and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoggedSample<'a> {
    pub(crate) sv_id: &'a [u8],
    pub(crate) smp_cnt: u16,
    /// Microseconds since 1970.
    pub(crate) at_us: i64,
}

/// The lines of a file.
pub(crate) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    /// Number of lines returned so far.
    pub(crate) number: u64,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(source: R) -> Self {
        Self {
            source,
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            at_end: false,
            number: 0,
        }
    }

    /// The next line without its end; `None` at the end of the file. A line longer than the buffer is returned in pieces, which cannot be parsed.
    pub(crate) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let mut seen = 0;
        loop {
            let there = &self.buffer[self.start..self.end];
            if let Some(length) = memchr::memchr(b'\n', &there[seen..]) {
                let from = self.start;
                self.start += seen + length + 1;
                self.number += 1;
                return Ok(Some(&self.buffer[from..from + seen + length]));
            }
            seen = there.len();
            if self.at_end || seen == self.buffer.len() {
                let from = self.start;
                self.start = self.end;
                self.number += u64::from(seen > 0);
                return Ok((seen > 0).then(|| &self.buffer[from..from + seen]));
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(n) => self.end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

/// Parses `iteration:svID:smpCnt:timestamp_us`. An svID may contain colons, so the numbers are parsed from both ends.
pub(crate) fn parse(line: &[u8]) -> Option<LoggedSample<'_>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (rest, at_us) = last_number(line)?;
    let (rest, smp_cnt) = last_number(rest)?;
    let pass = memchr::memchr(b':', rest)?;
    let sv_id = &rest[pass + 1..];
    let is_number = pass > 0 && rest[..pass].iter().all(u8::is_ascii_digit);
    (is_number && !sv_id.is_empty()).then_some(())?;
    Some(LoggedSample {
        sv_id,
        smp_cnt: u16::try_from(smp_cnt).ok()?,
        at_us: i64::try_from(at_us).ok().filter(|us| *us <= i64::MAX / 1_000)?,
    })
}

/// The number after the last colon, and the text before it.
fn last_number(line: &[u8]) -> Option<(&[u8], u64)> {
    let colon = memchr::memrchr(b':', line)?;
    let digits = &line[colon + 1..];
    if !(1..=MOST_DIGITS).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits
        .iter()
        .fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
    Some((&line[..colon], value))
}

#[cfg(test)]
mod tests {
    use super::{Lines, LoggedSample, parse};

    #[test]
    fn a_line_is_taken_apart_from_both_ends() {
        let line = |sv_id: &'static [u8]| {
            Some(LoggedSample {
                sv_id,
                smp_cnt: 3_999,
                at_us: 1_790_000_000_000_001,
            })
        };
        assert_eq!(parse(b"12:svID0000:3999:1790000000000001"), line(b"svID0000"));
        assert_eq!(parse(b"12:a:b:3999:1790000000000001\r"), line(b"a:b"));
        for bad in [
            &b""[..],
            b"12:MU:70000:1",
            b"12:MU:5",
            b"MU:5:6",
            b"x:MU:5:6",
            b"1:MU:5:",
            b"1::5:6",
            b"SV drop: 5",
            b"1:MU:5:99999999999999999999999",
            b"1:MU:5:9223372036854775807",
            b":MU:5:6",
        ] {
            assert_eq!(parse(bad), None, "{}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn lines_come_whole_whatever_the_reads_are() {
        let text = "a\nbb\n\nlast";
        let mut lines = Lines::new(std::io::Read::chain(&text.as_bytes()[..2], &text.as_bytes()[2..]));
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push(String::from_utf8(line.to_vec()).unwrap());
        }
        assert_eq!(all, ["a", "bb", "", "last"]);
        assert_eq!(lines.number, 4);
    }
}
