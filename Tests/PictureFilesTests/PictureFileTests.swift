internal import Foundation
internal import PictureFiles
internal import QRCode
internal import TestSupport
internal import Testing

@Suite("Picture files") struct PictureFileTests {
    /// Pictures and their greys, made by a PNG writer of another hand and opened by Pillow.
    private struct Vectors: Decodable {
        struct Picture: Decodable {
            let name: String
            let width: Int
            let height: Int
            let file: Data
            let grey: Data
        }

        let pictures: [Picture]
    }

    private let pictures: [Vectors.Picture]

    init() throws {
        pictures = try vectors(named: "PictureFiles/pictures.json", as: Vectors.self).pictures
    }

    @Test func `a PNG of every colour type, depth and filter is read, interlaced or not`() throws {
        #expect(pictures.count == 30)
        for picture in pictures {
            let read = try PictureFile.greyPicture(from: Array(picture.file))
            #expect(read.width == picture.width && read.height == picture.height, "\(picture.name)")
            #expect(read.pixels == Array(picture.grey), "\(picture.name)")
        }
    }

    @Test func `a PNG of ours is read and its code too`() throws {
        let symbol = try QRSymbol(encoding: "there and back", level: .m)
        let picture = try PictureFile.greyPicture(from: symbol.png(modulePixels: 3))
        #expect(QRReader().read(picture).map(\.text) == ["there and back"])
    }

    @Test func `a flipped bit anywhere in a PNG is noticed or changes no pixel`() throws {
        for picture in pictures.prefix(6) {
            for place in 8..<picture.file.count {
                var bytes = Array(picture.file)
                bytes[place] ^= 0x10
                do {
                    let read = try PictureFile.greyPicture(from: bytes)
                    #expect(read.pixels == Array(picture.grey), "\(picture.name), byte \(place)")
                } catch {
                    // Noticed.
                }
            }
        }
    }

    @Test func `a greymap may have comments and fewer greys`() throws {
        let header = Array("P5 # a comment of 7 words\n2 1\n# another\n100\n".utf8)
        let read = try PictureFile.greyPicture(from: header + [50, 100])
        #expect(read == (try GreyPicture(width: 2, height: 1, pixels: [127, 255])))
    }

    @Test func `a file that claims more than a picture may have is refused before anything is allocated for it`() {
        let greymap = Array("P5\n999999 999999\n255\n".utf8)
        #expect(throws: PictureFileError.picture(.size(width: 999_999, height: 999_999))) {
            try PictureFile.greyPicture(from: greymap)
        }
        #expect(throws: PictureFileError.damaged("pixels are missing at its end")) {
            try PictureFile.greyPicture(from: Array("P5\n4096 4096\n255\n".utf8))
        }
        #expect(throws: PictureFileError.self) {
            try PictureFile.greyPicture(from: Array("P5\n99999999999999999999 1\n255\n".utf8))
        }
    }

    @Test func `what is no picture says which files are read`() {
        for bytes in [[], Array("%PDF-1.7".utf8), [0x89]] {
            do {
                _ = try PictureFile.greyPicture(from: bytes)
                Issue.record("\(bytes) was read")
            } catch {
                #expect(error.description.contains("PNG"), "\(error)")
            }
        }
    }

    @Test func `no bytes crash the reading of pictures`() {
        let greymap = Array("P5\n3 2\n255\n".utf8) + [1, 2, 3, 4, 5, 6]
        neverCrash(on: pictures.map { Array($0.file) } + [greymap], rounds: 20_000) {
            _ = try PictureFile.greyPicture(from: $0)
        }
    }

    @Test func `no packed pixels crash the unpacking, even when every sum is right`() {
        var random = SplitMix64(seed: 11)
        for picture in pictures {
            for _ in 0..<200 {
                // The sums are made right again, so that the damage comes through to the pixels.
                _ = try? PictureFile.greyPicture(from: damaged(picture.file, using: &random))  // refusing is as good
            }
        }
    }

    /// A PNG with a few bytes of its chunks changed and their sums corrected.
    private func damaged(_ file: Data, using random: inout SplitMix64) -> [UInt8] {
        var bytes = Array(file)
        var position = 8
        while position + 12 <= bytes.count {
            let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            guard position + 12 + length <= bytes.count else { break }
            if length > 0 {
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    let place = position + 8 + Int.random(in: 0..<length, using: &random)
                    bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
            }
            var sum: UInt32 = 0xFFFF_FFFF
            for byte in bytes[position + 4..<position + 8 + length] {
                sum ^= UInt32(byte)
                for _ in 0..<8 { sum = sum & 1 == 1 ? 0xEDB8_8320 ^ (sum >> 1) : sum >> 1 }
            }
            for index in 0..<4 {
                bytes[position + 8 + length + index] = UInt8(truncatingIfNeeded: ~sum >> UInt32(24 - 8 * index))
            }
            position += 12 + length
        }
        return bytes
    }
}
