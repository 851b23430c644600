internal import Circle
package import CommandModel
internal import Platform

/// The kind of an attachment: a media type of thoughts whose content is no text.
package enum AttachmentKind: String, Codable, CaseIterable, Sendable {
    case image
    case audio
    case video

    var mediaType: MediaType {
        switch self {
        case .image: .image
        case .audio: .audio
        case .video: .video
        }
    }
}

/// The content of a file that a thought carries.
package struct Attachment: Hashable, Sendable {
    /// The type of a file, derived from its name extension.
    package struct FileType: Hashable, Sendable {
        let kind: AttachmentKind
        let contentType: String
    }

    /// The most bytes of content.
    package static let byteLimit = ThoughtServiceModel.contentByteLimit
    /// The most bytes of a content type and of a file name.
    package static let nameByteLimit = ThoughtServiceModel.nameByteLimit
    /// The way for files that no thought carries.
    package static let otherWay = "send it with `runar send PEER --file PATH`"

    let kind: AttachmentKind
    let content: [UInt8]
    let contentType: String?
    let fileName: String?

    package init(kind: AttachmentKind, content: [UInt8], contentType: String?, fileName: String?) {
        self.kind = kind
        self.content = content
        self.contentType = contentType
        self.fileName = fileName
    }

    package init(_ content: [UInt8], _ type: FileType, fileName: String) {
        self.init(kind: type.kind, content: content, contentType: type.contentType, fileName: fileName)
    }

    package static func tooLarge(_ byteCount: Int) -> CommandFailure {
        CommandFailure(
            "too-large",
            .data,
            "the content has \(byteCount) bytes, and a thought carries at most \(byteLimit): make it smaller, or \(otherWay)"
        )
    }
}

extension Attachment.FileType {
    /// The content types by the endings of file names; the kind is nil for those that no thought carries.
    ///
    /// SVG is not among the images: it is a document that may hold scripts.
    private static let table: [(ending: String, kind: AttachmentKind?, contentType: String)] = [
        ("png", .image, "image/png"), ("jpg", .image, "image/jpeg"), ("jpeg", .image, "image/jpeg"),
        ("gif", .image, "image/gif"), ("webp", .image, "image/webp"),
        ("mp3", .audio, "audio/mpeg"), ("m4a", .audio, "audio/mp4"), ("ogg", .audio, "audio/ogg"),
        ("wav", .audio, "audio/wav"),
        ("mp4", .video, "video/mp4"), ("webm", .video, "video/webm"),
        ("svg", nil, "image/svg+xml"), ("pdf", nil, "application/pdf"), ("txt", nil, "text/plain"),
    ]
    private static let unknownType = "application/octet-stream"

    /// Finds the type by the ending of a file's name.
    ///
    /// - Throws: ``CommandFailure`` for a type that no thought carries.
    package init(ofFile name: String) throws(CommandFailure) {
        let ending = name.lastIndex(of: ".").map { name[$0...].dropFirst().lowercased() } ?? ""
        let entry = Self.table.first { $0.ending == ending }
        let contentType = entry?.contentType ?? Self.unknownType
        guard let kind = entry?.kind else {
            throw CommandFailure(
                "unsupported-type",
                .data,
                "\(Terminal.quoted(name)) is \(contentType), and a thought carries \(Self.kinds): \(Attachment.otherWay)"
            )
        }
        self.init(kind: kind, contentType: contentType)
    }

    /// The kinds with the endings of their files.
    private static var kinds: String {
        AttachmentKind.allCases.map { kind in
            "\(kind.rawValue) (\(table.filter { $0.kind == kind }.map(\.ending).joined(separator: ", ")))"
        }.joined(separator: ", ")
    }
}
