internal import TestSupport
internal import Testing

@testable internal import QRCode

@Suite("Correction of codewords") struct ReedSolomonDecoderTests {
    private let data: [UInt8]
    private let block: [UInt8]
    private let correctionCount: Int

    init() throws {
        let example = try Standard.load().example
        data = Standard.bytes(example.data)
        let correction = Standard.bytes(example.correction)
        block = data + correction
        correctionCount = correction.count
    }

    @Test func `the standard's example is found right as it is`() {
        var received = block
        #expect(ReedSolomonDecoder.correct(&received, correctionCount: correctionCount, mostErrors: 5) == 0)
        #expect(received == block)
    }

    @Test func `up to half as many errors as correction codewords are put right wherever they are`() {
        var random = SplitMix64(seed: 18_004)
        for round in 0..<300 {
            let errors = round % (correctionCount / 2) + 1
            let places = Array(block.indices).shuffled(using: &random).prefix(errors)
            var received = block
            for place in places { received[place] ^= UInt8.random(in: 1...255, using: &random) }
            let corrected = ReedSolomonDecoder.correct(
                &received,
                correctionCount: correctionCount,
                mostErrors: correctionCount / 2
            )
            #expect(corrected == errors && received == block, "\(errors) errors")
        }
    }

    @Test func `more errors than are allowed are refused and nothing is changed`() {
        var random = SplitMix64(seed: 1)
        for errors in 4...8 {
            var received = block
            let places = Array(block.indices).shuffled(using: &random).prefix(errors)
            for place in places { received[place] ^= 0x5A }
            let before = received
            #expect(ReedSolomonDecoder.correct(&received, correctionCount: correctionCount, mostErrors: 3) == nil)
            #expect(received == before)
        }
    }

    @Test func `random codewords are refused instead of becoming another message`() {
        var random = SplitMix64(seed: 2)
        for _ in 0..<2_000 {
            var received = random.bytes(count: 44)
            #expect(ReedSolomonDecoder.correct(&received, correctionCount: 18, mostErrors: 9) == nil)
        }
    }
}
