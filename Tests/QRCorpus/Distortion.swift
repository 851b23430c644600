/// A property of an image that makes its QR code hard to read.
package enum Distortion: String, CaseIterable, Sendable {
    /// Upright and sharp, modules of two to eight pixels, at any place between the pixels.
    case clean
    /// Modules hardly larger than the camera's resolution.
    case small
    /// Turned by any angle.
    case rotated
    /// Seen from the side, also from near.
    case perspective
    /// Out of focus.
    case blurred
    /// As in a dark room.
    case noisy
    /// Half in the shade, with a lamp to one side.
    case uneven
    /// A few levels between dark and light.
    case faint
    /// Light modules on a dark ground.
    case inverted
    /// Two to four in one image.
    case several
    /// Partly covered, by less than the level can correct.
    case occluded
    /// From behind a window.
    case mirrored
    /// Held before a camera: a little of everything.
    case handheld
    /// No code at all: noise, a mosaic, or squares in squares everywhere.
    case empty

    /// Its place among the seeds, which must not change when another is added before it.
    package var seed: UInt64 {
        rawValue.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
