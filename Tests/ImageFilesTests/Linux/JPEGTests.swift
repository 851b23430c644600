#if os(Linux)
internal import Foundation
internal import ImageFiles
internal import QRCode
internal import TestSupport
internal import Testing

/// JPEG files, which libjpeg-turbo decodes on Linux.
@Suite("JPEG files") struct JPEGTests {
    /// Images of a QR code, written by Pillow and qrcode.
    private struct Vectors: Decodable {
        struct Image: Decodable {
            let name: String
            /// The text of the code; nil for an image that is refused.
            let text: String?
            let width: Int
            let height: Int
            let file: Data
        }

        let jpegs: [Image]
    }

    private let pictures: [Vectors.Image]

    init() throws {
        pictures = try vectors(named: "ImageFiles/jpegs.json", as: Vectors.self).jpegs
    }

    @Test func `a code in a JPEG is read, grey or in colours, progressive or not`() throws {
        #expect(pictures.count == 5)
        for image in pictures {
            guard let text = image.text else {
                #expect(throws: ImageFileError.self) { try ImageFile.greyImage(from: Array(image.file)) }
                continue
            }
            let read = try ImageFile.greyImage(from: Array(image.file))
            #expect(read.width == image.width && read.height == image.height, "\(image.name)")
            #expect(QRReader().read(read).map(\.text) == [text], "\(image.name)")
        }
    }

    @Test func `a truncated JPEG is refused wherever it ends`() {
        for image in pictures {
            for count in 3..<image.file.count {
                let bytes = Array(image.file.prefix(count))
                #expect(throws: ImageFileError.self) { try ImageFile.greyImage(from: bytes) }
            }
        }
    }

    @Test func `a JPEG that claims sides beyond the limit is refused by its header`() throws {
        for image in pictures {
            var bytes = Array(image.file)
            // The start of a frame: marker, length, precision, height, width.
            let frame = try #require(
                bytes.indices.dropLast(9).first { bytes[$0] == 0xFF && (0xC0...0xC2).contains(bytes[$0 + 1]) }
            )
            for place in [5, 7] { (bytes[frame + place], bytes[frame + place + 1]) = (0x10, 0x01) }
            #expect(throws: ImageFileError.image(.size(width: 4097, height: 4097))) {
                try ImageFile.greyImage(from: bytes)
            }
        }
    }

    @Test func `no bytes crash the decoding of a JPEG`() {
        neverCrash(on: pictures.map { Array($0.file) }, rounds: 20_000) { _ = try ImageFile.greyImage(from: $0) }
    }
}
#endif
