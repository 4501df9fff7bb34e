//! Memory that starts on a cache line and, if large, lies on huge pages sooner or later.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::ptr::NonNull;

use rayon::prelude::*;

const CACHE_LINE: usize = 64;
/// The size of a huge page on x86-64 and 64-bit ARM.
const HUGE_PAGE: usize = 2 << 20;

/// A zeroed, aligned block of numbers of fixed length.
pub(crate) struct Buffer {
    start: NonNull<f32>,
    len: usize,
    /// What was asked of the allocator: `start` lies within, on the next boundary.
    memory: NonNull<u8>,
}

// SAFETY: a Buffer owns its memory alone, as a Box<[f32]> does.
unsafe impl Send for Buffer {}
// SAFETY: shared references only read.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// On huge pages from the start, if it is large: for memory that is small beside what is worked through it.
    pub(crate) fn zeroed(len: usize) -> Self {
        let buffer = Self::on_small_pages(len);
        #[cfg(target_os = "linux")]
        buffer.advise(libc::MADV_HUGEPAGE);
        buffer
    }

    /// For half a gigabyte that is needed soon: where a host backs the memory of a guest, fresh huge pages cost
    /// thrice as much as small ones. [`move_to_huge_pages`](Self::move_to_huge_pages) makes up for it later.
    pub(crate) fn on_small_pages(len: usize) -> Self {
        if len == 0 {
            return Self {
                start: NonNull::dangling(),
                len,
                memory: NonNull::dangling(),
            };
        }
        let (layout, boundary) = Self::layout(len);
        // SAFETY: the layout's size is not zero.
        let memory = unsafe { alloc_zeroed(layout) };
        let Some(memory) = NonNull::new(memory) else {
            handle_alloc_error(layout)
        };
        // SAFETY: the layout has room for a boundary more than the numbers take.
        let start = unsafe { memory.add(memory.align_offset(boundary)) };
        Self {
            start: start.cast(),
            len,
            memory,
        }
    }

    /// Streaming hundreds of megabytes of weights through 4 KiB pages spends a tenth of the time on address
    /// translation: worth a copy for what is used again and again.
    pub(crate) fn move_to_huge_pages(&self) {
        #[cfg(target_os = "linux")]
        {
            self.advise(libc::MADV_HUGEPAGE);
            self.advise(libc::MADV_COLLAPSE);
        }
    }

    /// A refusal costs nothing but speed, so the result is not looked at.
    #[cfg(target_os = "linux")]
    fn advise(&self, advice: libc::c_int) {
        let bytes = self.len * size_of::<f32>();
        if bytes >= HUGE_PAGE {
            // SAFETY: the range belongs to this buffer; the advice changes how it is backed, not what it holds.
            unsafe { libc::madvise(self.start.as_ptr().cast(), bytes, advice) };
        }
    }

    /// What to ask for, and the boundary to start on within it.
    ///
    /// Asked for the boundary itself, the allocator would write the zeros instead of taking fresh pages from the
    /// system, which are zero already.
    fn layout(len: usize) -> (Layout, usize) {
        let bytes = len * size_of::<f32>();
        let boundary = if bytes >= HUGE_PAGE {
            HUGE_PAGE
        } else {
            CACHE_LINE
        };
        let layout = Layout::from_size_align(bytes + boundary, align_of::<f32>());
        (
            layout.expect("a buffer is smaller than the address space"),
            boundary,
        )
    }
}

impl Default for Buffer {
    fn default() -> Self {
        Self::zeroed(0)
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer of {} numbers", self.len)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: allocated in `zeroed` with the same layout, and not freed before.
            unsafe { dealloc(self.memory.as_ptr(), Self::layout(self.len).0) }
        }
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: `len` numbers were allocated and zeroed at `start`; a dangling start goes with a length of 0.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// The bytes of a file.
pub(crate) enum Bytes {
    /// As read.
    Read { memory: Buffer, len: usize },
    /// As unpacked.
    Unpacked(Vec<u8>),
}

/// A thread reads this much of a file at a time.
const PIECE: usize = 4 << 20;

impl Bytes {
    /// Reads a whole file; a large one is read by all cores, since it is them who copy.
    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        let mut open = File::open(file)?;
        let expected = usize::try_from(open.metadata()?.len()).unwrap_or(0);
        let mut memory = Buffer::on_small_pages(expected.div_ceil(size_of::<f32>()));
        let pieces = memory.bytes_mut()[..expected].par_chunks_mut(PIECE);
        pieces.enumerate().try_for_each(|(index, piece)| {
            let mut open = File::open(file)?;
            open.seek(SeekFrom::Start((index * PIECE) as u64))?;
            open.read_exact(piece)
        })?;
        let bytes = Self::Read {
            memory,
            len: expected,
        };
        // A pipe has no length, and a file may have grown meanwhile.
        let mut rest = Vec::new();
        if expected > 0 {
            open.seek(SeekFrom::Start(expected as u64))?;
        }
        open.read_to_end(&mut rest)?;
        Ok(if rest.is_empty() {
            bytes
        } else {
            Self::Unpacked([&bytes[..], &rest].concat())
        })
    }
}

impl Buffer {
    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: four initialised bytes for every number, and any byte is a valid u8.
        unsafe {
            std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len * size_of::<f32>())
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            // SAFETY: four initialised bytes for every number, of which `len` were asked for.
            Self::Read { memory, len } => unsafe {
                std::slice::from_raw_parts(memory.start.as_ptr().cast(), *len)
            },
            Self::Unpacked(bytes) => bytes,
        }
    }
}
