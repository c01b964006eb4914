//! Where the octets come from: the file as it is, or unpacked.

use std::io::{self, BufReader, Chain, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

/// Packed octets asked from the operating system at a time.
const PACKED: usize = 64 * 1024;

/// Octets as they come: what takes them apart is compiled here, once, whatever they come from.
pub(crate) type Octets<'a> = Box<dyn Read + 'a>;

type Gzip<'a> = MultiGzDecoder<BufReader<Chain<Cursor<Vec<u8>>, Octets<'a>>>>;

/// A capture as it is stored.
pub(crate) enum Input<'a> {
    Plain(Octets<'a>),
    Gzip(Box<Gzip<'a>>),
}

impl Input<'_> {
    /// The same input as gzip, `begin` being its octets that were read already. Several members in a row are one file.
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
