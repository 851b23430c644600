#if os(Linux)
internal import Foundation
internal import PictureFiles
internal import QRCode
internal import TestSupport
internal import Testing

/// JPEG files, which libjpeg-turbo decodes on Linux.
@Suite("JPEG files") struct JPEGTests {
    /// Pictures of a QR code, written by Pillow and qrcode.
    private struct Vectors: Decodable {
        struct Picture: Decodable {
            let name: String
            /// The text of the code; nil for a picture that is refused.
            let text: String?
            let width: Int
            let height: Int
            let file: Data
        }

        let jpegs: [Picture]
    }

    private let pictures: [Vectors.Picture]

    init() throws {
        pictures = try vectors(named: "PictureFiles/jpegs.json", as: Vectors.self).jpegs
    }

    @Test func `a code in a JPEG is read, grey or in colours, progressive or not`() throws {
        #expect(pictures.count == 5)
        for picture in pictures {
            guard let text = picture.text else {
                #expect(throws: PictureFileError.self) { try PictureFile.greyPicture(from: Array(picture.file)) }
                continue
            }
            let read = try PictureFile.greyPicture(from: Array(picture.file))
            #expect(read.width == picture.width && read.height == picture.height, "\(picture.name)")
            #expect(QRReader().read(read).map(\.text) == [text], "\(picture.name)")
        }
    }

    @Test func `a truncated JPEG is refused wherever it ends`() {
        for picture in pictures {
            for count in 3..<picture.file.count {
                let bytes = Array(picture.file.prefix(count))
                #expect(throws: PictureFileError.self) { try PictureFile.greyPicture(from: bytes) }
            }
        }
    }

    @Test func `a JPEG that claims sides beyond the limit is refused by its header`() throws {
        for picture in pictures {
            var bytes = Array(picture.file)
            // The start of a frame: marker, length, precision, height, width.
            let frame = try #require(
                bytes.indices.dropLast(9).first { bytes[$0] == 0xFF && (0xC0...0xC2).contains(bytes[$0 + 1]) }
            )
            for place in [5, 7] { (bytes[frame + place], bytes[frame + place + 1]) = (0x10, 0x01) }
            #expect(throws: PictureFileError.picture(.size(width: 4097, height: 4097))) {
                try PictureFile.greyPicture(from: bytes)
            }
        }
    }

    @Test func `no bytes crash the decoding of a JPEG`() {
        neverCrash(on: pictures.map { Array($0.file) }, rounds: 20_000) { _ = try PictureFile.greyPicture(from: $0) }
    }
}
#endif
