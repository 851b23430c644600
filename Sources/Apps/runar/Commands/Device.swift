internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService
internal import QRCode

/// A person's devices: one sets up another.
struct Device: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Set up a new device with one that has your root key: certificate and memberships by two texts.",
        discussion: """
            On the new device `runar device setup` shows a request. On the other one `runar device add` takes it, asks \
            whether both screens show the same code, and prints an answer, which the new device takes. No connection \
            is needed; texts or QR codes will do, and neither is a secret.
            """,
        subcommands: [Setup.self, Add.self]
    )

    /// An answer with eight networks has less than half of it.
    static let textLimit = 64 * 1024

    /// The text that a person gives by arguments, files, images, or standard input.
    static func text(
        _ words: [String],
        images: [String],
        asking question: String,
        until isWhole: @escaping (String) -> Bool
    ) throws -> String {
        var found = try images.flatMap { try ImageCodes.readings(in: $0).compactMap(\.text) }
        if images.isEmpty || !words.isEmpty {
            found.append(try InputText.pasted(words, limit: textLimit, asking: question, until: isWhole))
        }
        return found.joined(separator: "\n")
    }

    /// The request in a text, ignoring surrounding text.
    ///
    /// - Throws: ``CommandFailure`` when there is none, ``IdentityError`` when it was changed.
    static func request(in text: String) throws -> DeviceRequest {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let first = words.firstIndex(where: DeviceRequest.isText) else {
            throw CommandFailure(
                "bad-request",
                .data,
                words.contains(where: DeviceAnswer.isText)
                    ? "this is an answer: the new device takes it with `runar device setup`"
                    : "this is no request: paste all of what `runar device setup` shows on the new device"
            )
        }
        // A mail may have broken it over lines.
        return try (try? DeviceRequest(text: words[first]))  // only a test; the next line throws
            ?? DeviceRequest(text: words[first...].joined())
    }

    /// The answer in a text, ignoring preceding text.
    ///
    /// - Throws: ``CommandFailure`` when there is none, ``IdentityError`` when it was changed.
    static func answer(in text: String) throws -> DeviceAnswer {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let first = words.firstIndex(where: DeviceAnswer.isText) else {
            throw CommandFailure(
                "bad-answer",
                .data,
                words.contains(where: DeviceRequest.isText)
                    ? "this is a request: `runar device add` on the other device, with the root key, takes it"
                    : "this is no answer: paste all of what `runar device add` prints on the other device"
            )
        }
        return try DeviceAnswer(text: words[first...].joined())
    }

    /// Asks whether another screen shows the same code.
    ///
    /// - Throws: ``CommandFailure`` unless the person confirms it.
    static func confirm(_ code: String, _ question: String) async throws {
        let isSame = try await Prompt.accepts(
            "\(question) \(code)?",
            otherwise: "compare the code \(code) yourself and add --yes"
        )
        guard isSame else {
            throw CommandFailure(
                "codes-differ",
                .notPermitted,
                "nothing was done: if the codes differ, someone replaced your text"
            )
        }
    }
}
