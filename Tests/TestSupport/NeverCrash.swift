internal import Foundation

/// Feeds a decoder with damaged input and checks only that it returns, with a value or an error.
///
/// It tries every prefix of each valid input (of long ones, a sample), then `rounds` damaged inputs: flipped bits,
/// overwritten, inserted, removed and repeated pieces, extreme lengths, and bytes without any sense. A crash ends
/// the process, therefore the seed is printed first; `SEED=… swift test --filter …` repeats the run.
package func neverCrash(
    on validInputs: [[UInt8]],
    rounds: Int = 2_000,
    seed: UInt64 = 1,
    _ decode: ([UInt8]) throws -> Void
) {
    let seed = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? seed
    print("never-crash: \(validInputs.count) inputs, \(rounds) rounds, SEED=\(seed)")
    var random = SplitMix64(seed: seed)
    for input in validInputs {
        let step = max(1, input.count / 512)
        for count in stride(from: 0, through: input.count, by: step) {
            attempt(decode, [UInt8](input.prefix(count)))
        }
    }
    for _ in 0..<rounds {
        let input = validInputs.randomElement(using: &random) ?? []
        attempt(decode, damaged(input, using: &random))
    }
}

/// Feeds a decoder of text with damaged input: damaged UTF-8 is repaired before it is decoded.
package func neverCrash(
    onTexts validInputs: [String],
    rounds: Int = 2_000,
    seed: UInt64 = 1,
    _ decode: (String) throws -> Void
) {
    neverCrash(on: validInputs.map { [UInt8]($0.utf8) }, rounds: rounds, seed: seed) { bytes in
        try decode(String(decoding: bytes, as: UTF8.self))
    }
}

private func attempt(_ decode: ([UInt8]) throws -> Void, _ bytes: [UInt8]) {
    do {
        try decode(bytes)
    } catch {
        // Refusing is as good as accepting; only coming back matters.
    }
}

private func damaged(_ input: [UInt8], using random: inout SplitMix64) -> [UInt8] {
    var bytes = input
    for _ in 0..<Int.random(in: 1...3, using: &random) {
        let position = bytes.isEmpty ? 0 : Int.random(in: 0..<bytes.count, using: &random)
        let piece = position..<min(bytes.count, position + Int.random(in: 1...8, using: &random))
        switch Int.random(in: 0..<7, using: &random) {
        case 0 where !bytes.isEmpty:
            bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1:
            bytes.replaceSubrange(piece, with: random.bytes(count: piece.count))
        case 2:
            bytes.replaceSubrange(piece, with: [UInt8](repeating: 0xFF, count: piece.count))
        case 3:
            bytes.removeSubrange(piece)
        case 4:
            bytes.insert(contentsOf: bytes[piece], at: position)
        case 5:
            bytes.insert(contentsOf: random.bytes(count: piece.count), at: position)
        default:
            bytes = random.bytes(count: Int.random(in: 0...96, using: &random))
        }
    }
    return bytes
}
