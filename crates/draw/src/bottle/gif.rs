//! Pictures as an animated GIF; each frame stores only the rectangle that changed.

use gif::{DisposalMethod, Encoder, Repeat};

use super::Frame;
use super::pixels::{PALETTE, PICTURE_HEIGHT, PICTURE_WIDTH, Raster};

/// Why a GIF could not be made.
pub type GifError = gif::EncodingError;

/// GIF counts time in hundredths of a second, and browsers slow down anything below two.
const LEAST_DELAY: f64 = 2.0;

/// The animation, repeated without end.
pub fn to_gif(frames: &[Frame]) -> Result<Vec<u8>, GifError> {
    let mut bytes = Vec::new();
    let palette: Vec<u8> = PALETTE
        .iter()
        .flat_map(|color| [color.0, color.1, color.2])
        .collect();
    let mut encoder = Encoder::new(
        &mut bytes,
        PICTURE_WIDTH as u16,
        PICTURE_HEIGHT as u16,
        &palette,
    )?;
    encoder.set_repeat(Repeat::Infinite)?;
    let mut shown: Option<Raster> = None;
    for frame in frames {
        let raster = Raster::paint(frame);
        let changed = match &shown {
            None => Some((0, 0, PICTURE_WIDTH, PICTURE_HEIGHT)),
            Some(shown) => changed_rectangle(&shown.pixels, &raster.pixels),
        };
        // A frame like the one before still takes its time: one pixel says so.
        let (left, top, width, height) = changed.unwrap_or((0, 0, 1, 1));
        let rows = (top..top + height).flat_map(|y| {
            &raster.pixels[y * PICTURE_WIDTH + left..y * PICTURE_WIDTH + left + width]
        });
        encoder.write_frame(&gif::Frame {
            left: left as u16,
            top: top as u16,
            width: width as u16,
            height: height as u16,
            delay: (100.0 * frame.seconds).round().max(LEAST_DELAY) as u16,
            dispose: DisposalMethod::Keep,
            buffer: rows.copied().collect::<Vec<u8>>().into(),
            ..gif::Frame::default()
        })?;
        shown = Some(raster);
    }
    drop(encoder);
    Ok(bytes)
}

/// Left, top, width and height of the smallest rectangle that holds every difference.
fn changed_rectangle(before: &[u8], after: &[u8]) -> Option<(usize, usize, usize, usize)> {
    let changed = || {
        let differ = before
            .iter()
            .zip(after)
            .enumerate()
            .filter(|(_, (a, b))| a != b);
        differ.map(|(index, _)| (index % PICTURE_WIDTH, index / PICTURE_WIDTH))
    };
    let left = changed().map(|(x, _)| x).min()?;
    let right = changed().map(|(x, _)| x).max()?;
    let top = changed().map(|(_, y)| y).min()?;
    let bottom = changed().map(|(_, y)| y).max()?;
    Some((left, top, right - left + 1, bottom - top + 1))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_reader_sees_every_frame_with_its_delay() {
        let bytes = to_gif(&sample()).unwrap();
        let mut reader = gif::DecodeOptions::new().read_info(&bytes[..]).unwrap();
        assert_eq!(usize::from(reader.width()), PICTURE_WIDTH);
        let mut delays = Vec::new();
        while let Some(frame) = reader.read_next_frame().unwrap() {
            delays.push(frame.delay);
        }
        assert_eq!(delays, [50, 50, 50]);
    }
}
