internal import Foundation
internal import ImageFiles
internal import QRCode
internal import TestSupport
internal import Testing

@Suite("Image files") struct ImageFileTests {
    /// Images and their greys, made by a PNG writer of another hand and opened by Pillow.
    private struct Vectors: Decodable {
        struct Image: Decodable {
            let name: String
            let width: Int
            let height: Int
            let file: Data
            let grey: Data
        }

        let pictures: [Image]
    }

    private let pictures: [Vectors.Image]

    init() throws {
        pictures = try vectors(named: "ImageFiles/pictures.json", as: Vectors.self).pictures
    }

    @Test func `a PNG of every colour type, depth and filter is read, interlaced or not`() throws {
        #expect(pictures.count == 30)
        for image in pictures {
            let read = try ImageFile.greyImage(from: Array(image.file))
            #expect(read.width == image.width && read.height == image.height, "\(image.name)")
            #expect(read.pixels == Array(image.grey), "\(image.name)")
        }
    }

    @Test func `a PNG of ours is read and its code too`() throws {
        let symbol = try QRSymbol(encoding: "there and back", level: .m)
        let image = try ImageFile.greyImage(from: symbol.png(modulePixels: 3))
        #expect(QRReader().read(image).map(\.text) == ["there and back"])
    }

    @Test func `a flipped bit anywhere in a PNG is noticed or changes no pixel`() throws {
        for image in pictures.prefix(6) {
            for place in 8..<image.file.count {
                var bytes = Array(image.file)
                bytes[place] ^= 0x10
                do {
                    let read = try ImageFile.greyImage(from: bytes)
                    #expect(read.pixels == Array(image.grey), "\(image.name), byte \(place)")
                } catch {
                    // Noticed.
                }
            }
        }
    }

    @Test func `a greymap may have comments and fewer greys`() throws {
        let header = Array("P5 # a comment of 7 words\n2 1\n# another\n100\n".utf8)
        let read = try ImageFile.greyImage(from: header + [50, 100])
        #expect(read == (try GreyImage(width: 2, height: 1, pixels: [127, 255])))
    }

    @Test func `a file that claims more than an image may have is refused before anything is allocated for it`() {
        let greymap = Array("P5\n999999 999999\n255\n".utf8)
        #expect(throws: ImageFileError.size(width: 999_999, height: 999_999)) {
            try ImageFile.greyImage(from: greymap)
        }
        #expect(throws: ImageFileError.damaged("pixels are missing at its end")) {
            try ImageFile.greyImage(from: Array("P5\n4096 4096\n255\n".utf8))
        }
        #expect(throws: ImageFileError.self) {
            try ImageFile.greyImage(from: Array("P5\n99999999999999999999 1\n255\n".utf8))
        }
    }

    @Test(arguments: [
        ("P5\n2 2\n65535\n", [0, 0, 255, 255, 128, 0, 1, 0] as [UInt8], [0, 255, 127, 0] as [UInt8]),
        ("P5\n2 1\n1000\n", [1, 244, 3, 232], [127, 255]),
        ("P2 # plain\n3 1\n255\n", Array("0 128\n255\n".utf8), [0, 128, 255]),
        ("P2\n2 1\n15\n", Array("7   15".utf8), [119, 255]), ("P2\n1 1\n65535\n", Array("32896".utf8), [128]),
    ])
    func `a greymap of 16 bits or of decimal numbers is read`(header: String, content: [UInt8], greys: [UInt8]) throws {
        #expect(try ImageFile.greyImage(from: Array(header.utf8) + content).pixels == greys)
    }

    @Test(arguments: [
        "P2\n2 2\n255\n1 2 3", "P2\n1 1\n255\nx", "P2\n2 1\n255\n1 99999999", "P5\n1 1\n256\n0", "P5\n1 1\n65536\n00",
    ])
    func `a greymap with fewer pixels or other text is refused`(file: String) {
        #expect(throws: ImageFileError.self) { try ImageFile.greyImage(from: Array(file.utf8)) }
    }

    @Test func `an image with longer sides is made smaller while it is read`() throws {
        // 9000 x 2 pixels in columns of black and white, each of 10.
        let row = (0..<9_000).map { UInt8($0 / 10 % 2 * 255) }
        let raw = Array("P5\n9000 2\n255\n".utf8) + row + row
        let plain = Array("P2\n9000 2\n255\n".utf8) + (row + row).flatMap { Array("\($0) ".utf8) }
        for file in [raw, plain] {
            let read = try ImageFile.greyImage(from: file)
            #expect(read.width == 4_096 && read.height == 1)
            // The mean of all pixels stays, and most of them are as black or white as before.
            let sum = read.pixels.reduce(0) { $0 + Int($1) }
            #expect(abs(sum / 4_096 - 127) <= 1)
            #expect(read.pixels.count { $0 == 0 || $0 == 255 } > 2_500)
        }
    }

    @Test func `a code in a PNG of more than 4096 pixels a side is read`() throws {
        let text = String(repeating: "from far away ", count: 30)
        let image = try ImageFile.greyImage(from: QRSymbol(encoding: text, level: .m).png(modulePixels: 50))
        #expect(image.width == 4_096 && image.height == 4_096)
        #expect(QRReader().read(image).map(\.text) == [text])
    }

    @Test func `an image of too many pixels is refused by its header`() throws {
        let file = try QRSymbol(encoding: "pixels", level: .m).png(modulePixels: 3)
        for sides in [[0, 0, 255, 255, 0, 0, 255, 255], [0, 1, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 1]] as [[UInt8]]
        {
            let bomb = rewritten(file) { name, content in
                if name == "IHDR" { content.replaceSubrange(0..<8, with: sides) }
            }
            let error = #expect(throws: ImageFileError.self) { try ImageFile.greyImage(from: bomb) }
            guard case .size? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test func `an image whose rows are too many bytes is refused by its header`() throws {
        let file = try QRSymbol(encoding: "pixels", level: .m).png(modulePixels: 3)
        // 12000 x 9000 pixels of eight bytes.
        let bomb = rewritten(file) { name, content in
            if name == "IHDR" { content.replaceSubrange(0..<10, with: [0, 0, 46, 224, 0, 0, 35, 40, 16, 6]) }
        }
        #expect(throws: ImageFileError.size(width: 12_000, height: 9_000)) { try ImageFile.greyImage(from: bomb) }
    }

    @Test func `what is no image says which files are read`() {
        for bytes in [[], Array("%PDF-1.7".utf8), [0x89]] {
            do {
                _ = try ImageFile.greyImage(from: bytes)
                Issue.record("\(bytes) was read")
            } catch {
                #expect(error.description.contains("PNG"), "\(error)")
            }
        }
    }

    @Test func `no bytes crash the reading of images`() {
        let greymaps = ["P5\n3 2\n255\n123456", "P5\n3 1\n300\n123456", "P2\n3 2\n255\n1 2 3 4 5 6"]
        neverCrash(on: pictures.map { Array($0.file) } + greymaps.map { Array($0.utf8) }, rounds: 20_000) {
            _ = try ImageFile.greyImage(from: $0)
        }
    }

    @Test func `no packed pixels crash the unpacking, even when every sum is right`() {
        var random = SplitMix64(seed: 11)
        for image in pictures {
            for _ in 0..<200 {
                // The checksums are corrected, so that the damage reaches the pixels.
                _ = try? ImageFile.greyImage(from: damaged(image.file, using: &random))  // refusing is as good
            }
        }
    }

    @Test func `a PNG with fewer or more pixels than its header claims is refused`() throws {
        let file = try QRSymbol(encoding: "pixels", level: .m).png(modulePixels: 3)
        let taller = rewritten(file) { name, content in if name == "IHDR" { content[7] += 1 } }
        #expect(throws: ImageFileError.damaged("pixels are missing")) { try ImageFile.greyImage(from: taller) }
        let lower = rewritten(file) { name, content in if name == "IHDR" { content[7] -= 1 } }
        #expect(throws: ImageFileError.damaged("it has more pixels than its size allows")) {
            try ImageFile.greyImage(from: lower)
        }
        // 4096 by 4096 pixels, for which the packed ones are too few by far.
        let huge = rewritten(file) { name, content in
            if name == "IHDR" { content.replaceSubrange(0..<8, with: [0, 0, 16, 0, 0, 0, 16, 0]) }
        }
        #expect(throws: ImageFileError.damaged("pixels are missing")) { try ImageFile.greyImage(from: huge) }
    }

    @Test func `a PNG whose packed pixels are cut off is refused wherever they end`() throws {
        let file = try QRSymbol(encoding: "pixels", level: .m).png(modulePixels: 3)
        var count = 0
        _ = rewritten(file) { name, content in if name == "IDAT" { count = content.count } }
        #expect(count > 0)
        for kept in 0..<count {
            let short = rewritten(file) { name, content in if name == "IDAT" { content = Array(content.prefix(kept)) } }
            #expect(throws: ImageFileError.self) { try ImageFile.greyImage(from: short) }
        }
    }

    /// Returns a PNG with a few bytes of its chunks changed and their checksums corrected.
    private func damaged(_ file: Data, using random: inout SplitMix64) -> [UInt8] {
        rewritten(Array(file)) { _, content in
            guard !content.isEmpty else { return }
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let place = Int.random(in: 0..<content.count, using: &random)
                content[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
        }
    }

    /// Returns a PNG with the changes of `change` to its chunks, and with their lengths and checksums corrected.
    private func rewritten(_ file: [UInt8], _ change: (_ name: String, _ content: inout [UInt8]) -> Void) -> [UInt8] {
        var bytes = Array(file.prefix(8))
        var position = 8
        while position + 12 <= file.count {
            let length = file[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            guard position + 12 + length <= file.count else { break }
            let name = Array(file[position + 4..<position + 8])
            var content = Array(file[position + 8..<position + 8 + length])
            change(String(decoding: name, as: UTF8.self), &content)
            bytes += bigEndian(UInt32(content.count)) + name + content + bigEndian(checksum(of: name + content))
            position += 12 + length
        }
        return bytes
    }

    /// Returns the CRC-32 of a chunk, bit by bit.
    private func checksum(of chunk: [UInt8]) -> UInt32 {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in chunk {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? 0xEDB8_8320 ^ (sum >> 1) : sum >> 1 }
        }
        return ~sum
    }

    private func bigEndian(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
