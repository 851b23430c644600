internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import NodeModel
internal import NodeService
internal import Platform

// Images, audio and video in conversations.

extension Circle {
    struct Send: SayingCommand {
        static let configuration = CommandConfiguration(
            commandName: "send",
            abstract: "Send an image, audio or video to a person or a stream.",
            discussion: """
                The file is sealed and stored as a text is (`runar circle say`), and has at most 192 KiB. `runar send PEER \
                --file PATH` sends any file to a connected device.
                """
        )

        @Argument(help: "The person or the stream: name, id or its beginning.")
        var conversation: String
        @Argument(help: "The file: png, jpg, gif, webp, mp3, m4a, ogg, wav, mp4 or webm.", completion: .file())
        var file: String
        @OptionGroup var home: HomeOptions

        func request() throws -> APIRequest<ThoughtReport> {
            Operations.sendThought(ConversationName(conversation), ThoughtForm(try Attachment(file: file)))
        }
    }

    struct Save: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "save",
            abstract: "Save the content of a thought as a new file.",
            discussion: "In a directory the file gets the name that the sender gave it. No file is overwritten."
        )

        @Argument(help: "The person or the stream: name, id or its beginning.")
        var conversation: String
        @Argument(help: "The thought: its number, as `runar circle history` shows it, or its id.")
        var thought: String
        @Argument(help: "The file, which must not exist, or a directory for it.", completion: .file())
        var file: String
        @OptionGroup var home: HomeOptions

        func run() async throws {
            let request = Operations.thoughtContent(ConversationName(conversation), ThoughtName(thought))
            let content = try await Session.with(home) { try await $0.send(request) }
            let place = HomeOptions.absolute(file)
            let isDirectory = try SystemFileSystem().status(of: place, followingLink: true)?.kind == .directory
            let path = isDirectory ? FilePath.joining(place, content.storedName) : place
            try NewFile.write(content.content, to: path)
            let report = SavedThoughtReport(thoughtId: content.thoughtId, path: path, byteCount: content.byteCount)
            try Output.report(report, asJSON: home.output.json)
        }
    }
}

/// The file that a thought was saved as.
struct SavedThoughtReport: Report {
    let thoughtId: String
    let path: String
    let byteCount: Int

    var lines: [String] { ["saved \(path), \(ByteCountText.text(of: Double(byteCount)))"] }
}

extension Attachment {
    /// Reads a file that a person names.
    ///
    /// - Throws: ``CommandFailure`` if there is no such file, or no thought can carry it; ``FileError``.
    init(file: String) throws {
        let path = HomeOptions.absolute(file)
        let name = FilePath.name(of: path)
        let type = try FileType(ofFile: name)
        let content = try InputText.bytes(path, limit: Self.byteLimit, otherwise: Self.otherWay)
        guard !content.isEmpty else {
            throw CommandFailure("no-content", .data, "\(Terminal.quoted(file)) is empty: choose another file")
        }
        self.init(content, type, fileName: name)
    }
}

/// A file that must not exist yet.
enum NewFile {
    /// Writes a file that appears whole.
    ///
    /// An empty file reserves the name first, so that no other file is ever overwritten.
    ///
    /// - Throws: ``CommandFailure`` if something has that name; ``FileError``.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let files = SystemFileSystem()
        do throws(FileError) {
            files.close(try files.open(path, for: .creating))
        } catch {
            guard error.code == SystemErrors.exists else { throw error }
            throw CommandFailure(
                "exists",
                .cannotCreate,
                "\(Terminal.quoted(path)) exists already and was left alone: name another file"
            )
        }
        do throws(FileError) {
            let writer = try AtomicFileWriter(path)
            try writer.write(bytes)
            try writer.commit()
        } catch {
            try? files.remove(path)  // the first failure is the one that counts
            throw error
        }
    }
}
