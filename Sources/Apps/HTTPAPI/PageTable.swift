internal import Bytes
internal import Concurrency
internal import Crypto
package import WebPages

/// The files of pages that are embedded in a program, which a browser gets without a token.
package struct PageTable: Sendable {
    /// A file.
    package struct Page: Hashable, Sendable {
        /// Below the folder, such as `lib/dom.js`.
        package let path: String
        package let contentType: String
        package let bytes: [UInt8]
        /// Identifies the content, in quotation marks as in the field `ETag`.
        package let tag: String
    }

    /// A file as sent to a browser.
    package struct Answer: Sendable {
        package let bytes: [UInt8]
        /// The value of `Content-Encoding`; nil if the bytes are those of the file.
        package let coding: String?
        /// The value of `ETag`, which differs for each coding because the bytes differ.
        package let tag: String

        /// Whether a browser has these bytes, by its field `If-None-Match`: a list of tags, which it may call weak.
        package func isKnown(by field: String?) -> Bool {
            let tags = (field ?? "").split { $0 == "," || $0 == " " || $0 == "\t" }
            return tags.contains { $0 == "*" || $0 == tag || $0 == "W/\(tag)" }
        }
    }

    /// The file at `/`.
    private static let first = "index.html"
    private static let types = [
        "html": "text/html; charset=utf-8",
        "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "json": "application/json",
        "webmanifest": "application/manifest+json",
        "svg": "image/svg+xml",
        "png": "image/png",
    ]

    package let pages: [Page]
    private let byPath: [String: Int]
    /// The requested files after gzip, by path; empty for a file that gzip does not shorten.
    private let zipped = Locked<[String: [UInt8]]>([:])

    /// Creates the table of the files that a generated function of C returns with their count.
    package init(_ list: (UnsafeMutablePointer<Int>?) -> UnsafePointer<web_page>?) {
        var count = 0
        let table = unsafe list(&count)
        pages = (0..<count).map { index in
            // The table is constant, and `count` is its length.
            let page = unsafe UnsafeBufferPointer(start: table, count: count)[index]
            let bytes = unsafe Array(UnsafeBufferPointer(start: page.bytes, count: page.count))
            let path = unsafe String(cString: page.path)
            let ending = path.split(separator: ".").last.map(String.init) ?? ""
            return Page(
                path: path,
                contentType: Self.types[ending] ?? "application/octet-stream",
                bytes: bytes,
                tag: "\"\(Base64URL.encode(Array(SHA256.hash(data: bytes)).prefix(12)))\""
            )
        }
        byPath = Dictionary(uniqueKeysWithValues: pages.enumerated().map { ("/" + $0.element.path, $0.offset) })
    }

    /// The file at a path as a browser asks for it.
    package subscript(path: String) -> Page? {
        byPath[path == "/" ? "/" + Self.first : path].map { pages[$0] }
    }

    /// A file in an encoding that the `Accept-Encoding` field of a browser permits.
    package func answer(_ page: Page, accepting field: String?) -> Answer {
        let plain = Answer(bytes: page.bytes, coding: nil, tag: page.tag)
        guard AcceptEncoding.admitsGzip(field) else { return plain }
        let bytes = zipped.withLock { zipped in
            if let known = zipped[page.path] { return known }
            let made = Self.gzip(page.bytes)
            zipped[page.path] = made
            return made
        }
        return bytes.isEmpty ? plain : Answer(bytes: bytes, coding: "gzip", tag: "\(page.tag.dropLast())-gzip\"")
    }

    /// Nothing if that would not be shorter.
    private static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: bytes.count) { room, count in
            // Both buffers have the lengths passed, and `web_pages_gzip` writes at most the length of the second.
            count = unsafe bytes.withUnsafeBufferPointer { source in
                unsafe web_pages_gzip(source.baseAddress, source.count, room.baseAddress, source.count)
            }
        }
    }
}
