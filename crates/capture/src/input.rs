//! Source of the bytes: the file itself, or the decompressed file.

use std::io::{self, BufReader, Chain, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

/// Number of compressed bytes requested from the operating system at a time.
const PACKED: usize = 64 * 1024;

/// A stream of bytes from any source, so that the parser is compiled only once, here.
pub(crate) type Octets<'a> = Box<dyn Read + 'a>;

type Gzip<'a> = MultiGzDecoder<BufReader<Chain<Cursor<Vec<u8>>, Octets<'a>>>>;

/// A capture without compression.
pub(crate) enum Input<'a> {
    Plain(Octets<'a>),
    Gzip(Box<Gzip<'a>>),
}

impl Input<'_> {
    /// The same input, decompressed by gzip; `begin` holds its bytes that were already read. Several members in a row make one file.
    pub(crate) fn unpack(self, begin: Vec<u8>) -> Self {
        match self {
            Self::Plain(rest) => {
                let packed = Cursor::new(begin).chain(rest);
                Self::Gzip(Box::new(MultiGzDecoder::new(BufReader::with_capacity(PACKED, packed))))
            }
            Self::Gzip(_) => self,
        }
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(input) => input.read(buffer),
            Self::Gzip(input) => input.read(buffer),
        }
    }
}
