/// otdf-python, an independent implementation of NanoTDF (Tests/Interop/nanotdf_peer.py).
///
/// It verifies no binding, and has neither signatures nor remote policies.
package enum NanoTDFPeer {
    /// A file to read with a private key, or a plaintext to seal to a public one; bytes are hexadecimal digits.
    package struct Request: Encodable, Sendable {
        let key: String?
        let nanotdf: String?
        let curve: String?
        let `public`: String?
        let plaintext: String?

        /// Asks for the plaintext of a file.
        package init(key: String, nanotdf: String) {
            self.key = key
            self.nanotdf = nanotdf
            curve = nil
            `public` = nil
            plaintext = nil
        }

        /// Asks for a file.
        package init(curve: String, public publicKey: String, plaintext: String) {
            key = nil
            nanotdf = nil
            self.curve = curve
            `public` = publicKey
            self.plaintext = plaintext
        }
    }

    /// A plaintext or a file, in hexadecimal digits, or the reason of a refusal.
    package struct Answer: Decodable, Sendable {
        package let plaintext: String?
        package let nanotdf: String?
        package let error: String?
    }

    private static let script = "nanotdf_peer.py"
    /// The missing installation, or nothing.
    package static let missing = PythonScripts.missing(for: script, otherwise: "otdf-python reads and writes no file")

    /// Sends all requests to one process.
    package static func perform(_ requests: [Request]) throws -> [Answer] {
        try PythonScripts.answers(of: script, to: requests)
    }
}
