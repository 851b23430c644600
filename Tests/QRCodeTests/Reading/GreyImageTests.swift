internal import TestSupport
internal import Testing

@testable internal import QRCode

@Suite("Grey images") struct GreyImageTests {
    @Test func `an image whose pixels are not those of its sides is refused with both numbers`() {
        #expect(throws: GreyImageError.pixels(count: 5, expected: 6)) {
            try GreyImage(width: 2, height: 3, pixels: [1, 2, 3, 4, 5])
        }
    }

    @Test func `sides out of bounds are refused before they are multiplied`() {
        for (width, height) in [(0, 1), (1, 0), (-1, -1), (4_097, 1), (Int.max, Int.max), (1, Int.min)] {
            #expect(throws: GreyImageError.size(width: width, height: height)) {
                try GreyImage(width: width, height: height, pixels: [])
            }
        }
    }

    @Test func `half an image has the means of four pixels`() throws {
        let image = try GreyImage(width: 3, height: 2, pixels: [0, 10, 99, 20, 30, 99])
        #expect(image.halved() == (try GreyImage(width: 1, height: 1, pixels: [15])))
    }

    @Test func `a map and its inverse lead back`() throws {
        let map = Perspective(cells: [3, 0.5, 20, -0.2, 2.5, 40, 0.001, 0.002, 1])
        let inverse = try #require(map.inverse)
        let there = try #require(map(12, 7))
        let back = try #require(inverse(there.x, there.y))
        #expect((back.x - 12).magnitude < 1e-9 && (back.y - 7).magnitude < 1e-9)
        #expect(map(-1_000, 0) == nil, "behind the horizon")
        #expect(Perspective(cells: [1, 2, 0, 2, 4, 0, 0, 0, 1]).inverse == nil, "flat")
    }

    @Test func `numbers that have run away are outside of every image`() throws {
        let image = try GreyImage(width: 16, height: 16, pixels: [UInt8](repeating: 9, count: 256))
        let layer = ImageLayer(image, depth: 0)
        for number in [Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude, -1e300, -0.001, 15] {
            #expect(layer.tone(number, 3) == nil)
            #expect(layer.tone(3, number) == nil)
        }
        #expect(layer.tone(14.999, 0) != nil)
    }

    @Test func `images of noise, of one grey and of the smallest sizes end without a reading`() throws {
        var random = SplitMix64(seed: 5)
        for (width, height) in [(1, 1), (1, 300), (2, 2), (9, 7), (40, 41), (200, 150)] {
            let noise = random.bytes(count: width * height)
            #expect(QRReader().read(try GreyImage(width: width, height: height, pixels: noise)).isEmpty)
            for grey: UInt8 in [0, 127, 255] {
                let pixels = [UInt8](repeating: grey, count: width * height)
                #expect(QRReader().read(try GreyImage(width: width, height: height, pixels: pixels)).isEmpty)
            }
        }
    }
}
