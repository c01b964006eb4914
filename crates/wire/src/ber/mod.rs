//! The part of BER (X.690) that SV and GOOSE use: definite lengths of at most four octets, tags compared whole.

pub use crate::tag::Tag;

use crate::frame_error::{Field, FrameError, Rule};

mod write;

pub use write::{integer_octets, nested, unsigned_octets, write_element};

/// Most octets a tag may have here.
const MAX_TAG_OCTETS: usize = 4;

/// Position of an element. Offsets count from the first octet that the reader was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// Its identifier.
    pub tag: Tag,
    /// First identifier octet.
    pub start: usize,
    /// First content octet.
    pub content: usize,
    /// One past the last content octet.
    pub end: usize,
}

impl Element {
    /// Octets of content.
    pub const fn len(&self) -> usize {
        self.end - self.content
    }

    /// True if the content is empty.
    pub const fn is_empty(&self) -> bool {
        self.end == self.content
    }
}

/// Reads consecutive elements. Never reads past the slice it was given.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    base: usize,
    /// If true, a constructed element that runs past the end is treated as ending there.
    clip: bool,
}

impl<'a> Reader<'a> {
    /// Reads `bytes` from offset `at` to the end. `base` is the frame offset of `bytes[0]`, for errors.
    #[inline]
    pub fn new(bytes: &'a [u8], at: usize, base: usize) -> Self {
        Self {
            bytes,
            at,
            base,
            clip: false,
        }
    }

    /// Like [`Self::new`], for a frame whose end is missing: constructed elements are treated as ending with the
    /// available octets, so that the elements in them can be read. Elements with a value must still be complete.
    pub(crate) fn of_cut_frame(bytes: &'a [u8], at: usize, base: usize) -> Self {
        Self {
            bytes,
            at,
            base,
            clip: true,
        }
    }

    /// Reads the content of `element` only.
    #[inline]
    pub fn within(&self, element: &Element) -> Self {
        Self {
            bytes: self.bytes.get(..element.end).unwrap_or_default(),
            at: element.content,
            ..*self
        }
    }

    /// True at the end.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The bytes not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Offset of the next element.
    #[inline]
    pub fn position(&self) -> usize {
        self.at
    }

    /// The octets this reader may see, from its offset 0 to its end.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Moves to offset `at` without reading.
    #[inline]
    pub fn skip_to(&mut self, at: usize) {
        self.at = at;
    }

    /// An error at an offset of this reader.
    #[inline]
    pub fn error(&self, at: usize, rule: Rule) -> FrameError {
        FrameError::at(self.base + at, rule)
    }

    /// The next element, or `None` at the end.
    ///
    /// # Errors
    /// A tag or length that runs out or is not accepted, or content past the end.
    #[inline]
    pub fn next_element(&mut self) -> Result<Option<Element>, FrameError> {
        if self.is_empty() {
            Ok(None)
        } else {
            self.element().map(Some)
        }
    }

    /// True when the next element has this tag, which must be one octet long.
    #[inline]
    pub(crate) fn next_is(&self, tag: Tag) -> bool {
        self.bytes.get(self.at).is_some_and(|&octet| u32::from(octet) == tag.0)
    }

    /// Takes the next element if it has this tag of one octet and a short length of exactly `octets`; returns the
    /// offset of its content. On `None`, call [`Self::expect`]: the element may be encoded in another form.
    #[inline]
    pub(crate) fn fixed(&mut self, tag: Tag, octets: u8) -> Option<usize> {
        let content = self.at + 2;
        let end = content + usize::from(octets);
        let element = self.bytes.get(self.at..end)?;
        if u32::from(element[0]) != tag.0 || element[1] != octets {
            return None;
        }
        self.at = end;
        Some(content)
    }

    /// The next element, which must have this tag.
    #[inline]
    pub(crate) fn expect(&mut self, tag: Tag, field: Field) -> Result<Element, FrameError> {
        let element = self.require(field)?;
        self.check(&element, tag, field)?;
        Ok(element)
    }

    /// The next element; at the end, `field` is missing.
    #[inline]
    pub(crate) fn require(&mut self, field: Field) -> Result<Element, FrameError> {
        if self.is_empty() {
            return Err(self.error(self.at, Rule::Missing { field, found: None }));
        }
        self.element()
    }

    /// An error unless the element has this tag.
    #[inline]
    pub(crate) fn check(&self, element: &Element, tag: Tag, field: Field) -> Result<(), FrameError> {
        if element.tag == tag {
            Ok(())
        } else {
            Err(self.error(
                element.start,
                Rule::Missing {
                    field,
                    found: Some(element.tag),
                },
            ))
        }
    }

    /// The error of an element with the wrong number of octets.
    #[cold]
    pub(crate) fn size_error(&self, element: &Element, field: Field, wanted: &'static str) -> FrameError {
        let octets = u32::try_from(element.len()).unwrap_or(u32::MAX);
        self.error(element.start, Rule::Size { field, octets, wanted })
    }

    /// The content of an element.
    #[inline]
    pub(crate) fn content(&self, element: &Element) -> &'a [u8] {
        self.bytes.get(element.content..element.end).unwrap_or_default()
    }

    /// The next element; an error at the end.
    #[inline]
    pub(crate) fn element(&mut self) -> Result<Element, FrameError> {
        let start = self.at;
        if let Some(&[tag, length]) = self.bytes.get(start..).and_then(|rest| rest.first_chunk::<2>()) {
            let end = start + 2 + usize::from(length);
            if tag & 0x1f != 0x1f && length < 0x80 && end <= self.bytes.len() {
                self.at = end;
                return Ok(Element {
                    tag: Tag(u32::from(tag)),
                    start,
                    content: start + 2,
                    end,
                });
            }
        }
        self.long_element()
    }

    /// Fast path: lengths of one and two octets, which constructed elements of most frames have. Then all other forms.
    fn long_element(&mut self) -> Result<Element, FrameError> {
        let start = self.at;
        let (tag, length, content) = match self.bytes.get(start..) {
            Some(&[tag, 0x81, length, ..]) => (tag, usize::from(length), start + 3),
            Some(&[tag, 0x82, high, low, ..]) => (tag, usize::from(u16::from_be_bytes([high, low])), start + 4),
            _ => return self.any_element(),
        };
        let end = content + length;
        if tag & 0x1f == 0x1f || end > self.bytes.len() {
            return self.any_element();
        }
        self.at = end;
        Ok(Element {
            tag: Tag(u32::from(tag)),
            start,
            content,
            end,
        })
    }

    /// Reads every form and reports every error.
    #[cold]
    fn any_element(&mut self) -> Result<Element, FrameError> {
        let start = self.at;
        let (tag, length_at) = self.tag()?;
        let (length, content) = self.length(length_at)?;
        let left = self.bytes.len() - content;
        if length as usize > left {
            if self.clip && tag.is_constructed() {
                self.at = self.bytes.len();
                return Ok(Element {
                    tag,
                    start,
                    content,
                    end: self.at,
                });
            }
            let left = u32::try_from(left).unwrap_or(u32::MAX);
            return Err(self.error(start, Rule::Overrun { length, left }));
        }
        self.at = content + length as usize;
        Ok(Element {
            tag,
            start,
            content,
            end: self.at,
        })
    }

    /// The tag at the current position, and the offset after it.
    fn tag(&self) -> Result<(Tag, usize), FrameError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let cut = || self.error(self.at, Rule::TagCut);
        let &first = rest.first().ok_or_else(cut)?;
        let mut tag = u32::from(first);
        if first & 0x1f != 0x1f {
            return Ok((Tag(tag), self.at + 1));
        }
        for (index, &octet) in rest.iter().enumerate().skip(1) {
            if index == MAX_TAG_OCTETS {
                return Err(self.error(self.at, Rule::TagTooLong));
            }
            tag = tag << 8 | u32::from(octet);
            if octet & 0x80 == 0 {
                return Ok((Tag(tag), self.at + index + 1));
            }
        }
        Err(cut())
    }

    /// The length at `at`, and the offset after it.
    fn length(&self, at: usize) -> Result<(u32, usize), FrameError> {
        let cut = || self.error(self.at, Rule::LengthCut);
        let &first = self.bytes.get(at).ok_or_else(cut)?;
        match first {
            0..0x80 => Ok((u32::from(first), at + 1)),
            0x80 => Err(self.error(self.at, Rule::IndefiniteLength)),
            0xff => Err(self.error(self.at, Rule::ReservedLength)),
            0x81..=0x84 => {
                let end = at + 1 + usize::from(first & 0x7f);
                let octets = self.bytes.get(at + 1..end).ok_or_else(cut)?;
                Ok((
                    octets.iter().fold(0, |length, &octet| length << 8 | u32::from(octet)),
                    end,
                ))
            }
            _ => Err(self.error(self.at, Rule::LongLength { octets: first & 0x7f })),
        }
    }
}

#[cfg(test)]
mod tests;
