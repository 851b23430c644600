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

    @Test func `a JPEG that ends before its pixels is refused, and one that ends later has its sides`() throws {
        for image in pictures {
            let bytes = Array(image.file)
            let scan = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
            for count in 3..<bytes.count {
                do {
                    let read = try ImageFile.greyImage(from: Array(bytes.prefix(count)))
                    #expect(count > scan + 10 && image.text != nil, "\(image.name), \(count) bytes")
                    #expect(read.width == image.width && read.height == image.height)
                } catch {
                    // Refused.
                }
            }
        }
    }

    @Test func `a code is read although the JPEG is damaged beside it`() throws {
        for image in pictures where image.text != nil && image.name != "colours, progressive" {
            // The end of the lower margin is missing.
            let read = try ImageFile.greyImage(from: Array(image.file.dropLast(12)))
            #expect(QRReader().read(read).map(\.text) == [image.text], "\(image.name)")
        }
    }

    /// Returns a JPEG with other sides in its header.
    private func resized(_ file: Data, width: UInt16, height: UInt16) throws -> [UInt8] {
        var bytes = Array(file)
        // The start of a frame: marker, length, precision, height, width.
        let frame = try #require(
            bytes.indices.dropLast(9).first { bytes[$0] == 0xFF && (0xC0...0xC2).contains(bytes[$0 + 1]) }
        )
        for (place, side) in [(5, height), (7, width)] {
            (bytes[frame + place], bytes[frame + place + 1]) = (UInt8(side >> 8), UInt8(truncatingIfNeeded: side))
        }
        return bytes
    }

    @Test func `a JPEG that claims sides beyond the limit is refused by its header`() throws {
        for image in pictures {
            let bytes = try resized(image.file, width: 65_500, height: 65_500)
            #expect(throws: ImageFileError.size(width: 65_500, height: 65_500)) {
                try ImageFile.greyImage(from: bytes)
            }
        }
    }

    @Test func `a JPEG whose decoding takes too much memory is refused by its header`() throws {
        let image = try #require(pictures.first { $0.name == "colours, progressive" })
        let bytes = try resized(image.file, width: 11_000, height: 11_000)
        #expect(throws: ImageFileError.size(width: 11_000, height: 11_000)) { try ImageFile.greyImage(from: bytes) }
    }

    @Test(
        arguments: [
            (8_000, 87, 4_000, 44), (4_100, 87, 3_588, 77), (60_000, 87, 4_096, 6),
        ] as [(UInt16, UInt16, Int, Int)]
    )
    func `a large JPEG is made smaller while it is decoded`(
        width: UInt16,
        height: UInt16,
        smallerWidth: Int,
        smallerHeight: Int
    ) throws {
        let read = try ImageFile.greyImage(from: resized(pictures[0].file, width: width, height: height))
        #expect(read.width == smallerWidth && read.height == smallerHeight)
    }

    @Test func `no bytes crash the decoding of a JPEG`() {
        neverCrash(on: pictures.map { Array($0.file) }, rounds: 20_000) { _ = try ImageFile.greyImage(from: $0) }
    }
}
#endif
