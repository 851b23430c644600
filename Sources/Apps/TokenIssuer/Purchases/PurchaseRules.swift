internal import Certificates

/// The purchases that an operator accepts.
package struct PurchaseRules: Sendable {
    /// The standard bound on the age of a signature: a day.
    ///
    /// The holder of an expired key of the App Store could sign with an earlier date, and this bounds how long.
    package static let standardMaximumAgeSeconds: UInt64 = 86_400
    /// The address of Apple's page with its root certificates.
    package static let rootAddress = "https://www.apple.com/certificateauthority/"
    /// The name of the root that signs for the App Store.
    package static let rootName = "Apple Root CA - G3"
    /// The SHA-256 fingerprint of that root in DER, with which operators compare their file.
    package static let rootFingerprint =
        "63:34:3A:BF:B8:9A:6A:03:EB:B5:7E:9B:3F:5F:A7:BE:7C:4F:5C:75:6F:30:17:B3:A8:C4:88:C3:65:3E:91:79"

    /// The leaf's extension for signatures of receipts and transactions.
    private static let signerExtension = ExtensionIdentifier("1.2.840.113635.100.6.11.1")
    /// The extension of the intermediate authority (Worldwide Developer Relations).
    private static let authorityExtension = ExtensionIdentifier("1.2.840.113635.100.6.2.1")
    /// Leaf, intermediate authority and root.
    static let chainLength = 3

    /// The bundle identifier of the operator's app.
    package let bundleId: String
    /// The allowance per epoch of each product of the operator.
    package let allowances: [String: UInt16]
    /// Whether purchases of test accounts are accepted.
    package let allowsSandbox: Bool
    /// The most seconds between the signature and its use.
    package let maximumAgeSeconds: UInt64
    /// The rules for the certificates of a purchase.
    let chainPolicy: ChainPolicy

    /// Creates the rules from the operator's configuration, with `rootFile` as the bytes of the file of pinned roots.
    ///
    /// - Throws: ``PurchaseError/unusableRoots(_:)``.
    package init(
        bundleId: String,
        allowances: [String: UInt16],
        rootFile: [UInt8],
        allowsSandbox: Bool = false,
        maximumAgeSeconds: UInt64 = Self.standardMaximumAgeSeconds
    ) throws(PurchaseError) {
        let roots: RootCertificates
        do {
            roots = try RootCertificates(file: rootFile)
        } catch {
            throw .unusableRoots(error)
        }
        self.bundleId = bundleId
        self.allowances = allowances
        self.allowsSandbox = allowsSandbox
        self.maximumAgeSeconds = maximumAgeSeconds
        chainPolicy = ChainPolicy(
            roots: roots,
            length: Self.chainLength,
            leafExtensions: [Self.signerExtension],
            intermediateExtensions: [Self.authorityExtension]
        )
    }

    /// The SHA-256 digests of the pinned roots, which an operator compares with ``rootFingerprint``.
    package var rootDigests: [[UInt8]] { chainPolicy.roots.digests }

    /// Returns the environment by its name, unless the operator does not accept it.
    ///
    /// Xcode and LocalTesting are signed by a developer's machine, and no configuration accepts them.
    func environment(named name: String) throws(PurchaseError) -> Purchase.Environment {
        guard let environment = Purchase.Environment(rawValue: name), environment == .production || allowsSandbox else {
            throw .environmentRefused(name)
        }
        return environment
    }
}
