//! Memory that starts on a cache line and, if large, lies on huge pages.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

const CACHE_LINE: usize = 64;
/// The size of a huge page on x86-64 and 64-bit ARM.
const HUGE_PAGE: usize = 2 << 20;

/// A zeroed, aligned block of numbers of fixed length.
pub(crate) struct Buffer {
    start: NonNull<f32>,
    len: usize,
}

// SAFETY: a Buffer owns its memory alone, as a Box<[f32]> does.
unsafe impl Send for Buffer {}
// SAFETY: shared references only read.
unsafe impl Sync for Buffer {}

impl Buffer {
    pub(crate) fn zeroed(len: usize) -> Self {
        if len == 0 {
            return Self {
                start: NonNull::dangling(),
                len,
            };
        }
        let layout = Self::layout(len);
        // SAFETY: the layout's size is not zero.
        let memory = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(memory.cast::<f32>()) else {
            handle_alloc_error(layout)
        };
        #[cfg(target_os = "linux")]
        if layout.align() == HUGE_PAGE {
            // Streaming hundreds of megabytes of weights through 4 KiB pages spends a tenth of the time on address
            // translation. A refusal costs nothing but that, so the result is not looked at.
            // SAFETY: the range was just allocated; the advice changes how it is backed, not what it holds.
            unsafe { libc::madvise(memory.cast(), layout.size(), libc::MADV_HUGEPAGE) };
        }
        Self { start, len }
    }

    fn layout(len: usize) -> Layout {
        let bytes = len * size_of::<f32>();
        let align = if bytes >= HUGE_PAGE {
            HUGE_PAGE
        } else {
            CACHE_LINE
        };
        Layout::from_size_align(bytes, align).expect("a buffer is smaller than the address space")
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: allocated in `zeroed` with the same layout, and not freed before.
            unsafe { dealloc(self.start.as_ptr().cast(), Self::layout(self.len)) }
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
