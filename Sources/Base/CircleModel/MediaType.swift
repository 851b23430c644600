/// The kind of a thought's content.
public enum MediaType: String, Hashable, Sendable, Codable, CaseIterable {
    /// A chat message in UTF-8.
    case say
    /// A text in UTF-8.
    case text
    /// A post to a stream in UTF-8.
    case post
    /// An image, in the format that ``ThoughtServiceModel/contentType`` names.
    case image
    /// A sound recording, in the format that ``ThoughtServiceModel/contentType`` names.
    case audio
    /// A video, in the format that ``ThoughtServiceModel/contentType`` names.
    case video

    /// Whether the content is UTF-8.
    public var isText: Bool {
        switch self {
        case .say, .text, .post: true
        case .image, .audio, .video: false
        }
    }
}
