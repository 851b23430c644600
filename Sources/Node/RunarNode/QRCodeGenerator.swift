public import Identity
@_exported public import QRCode

/// Makes the QR codes by which people hand over networks, ids, tokens, addresses and invitations.
///
/// A camera reads them with `QRCodeScanner`; each function that accepts one of these texts accepts the scanned one. At level
/// M all of them are at most version 15, which every camera reads from a screen.
public struct QRCodeGenerator: Sendable {
    /// The level of error correction of its codes.
    public let level: ErrorCorrectionLevel

    /// A generator of codes at a level; on screens M is enough, on paper that gets worn take a higher one.
    public init(level: ErrorCorrectionLevel = .m) {
        self.level = level
    }

    /// The code of any text.
    ///
    /// - Throws: `QRCodeError` when there is no text or too much of it.
    public func generateQRCode(from string: String) throws -> QRSymbol {
        try QRSymbol(encoding: string, level: level)
    }

    /// The code of a network, for people who want to join it.
    ///
    /// - Throws: `IdentityError` when the metadata is not signed.
    public func generateNetworkQR(from metadata: NetworkMetadata) throws -> QRSymbol {
        try generateQRCode(from: metadata.qrString)
    }

    /// The code of a token, for the device that it is for.
    ///
    /// - Throws: `QRCodeError` when it does not fit.
    public func generateTokenQR(from token: AccessToken) throws -> QRSymbol {
        try generateQRCode(from: token.qrString)
    }

    /// The code of a device's id, for the administrator who issues a token for it.
    ///
    /// - Throws: `QRCodeError` when it does not fit.
    public func generatePeerIdQR(from peerId: PeerId) throws -> QRSymbol {
        try generateQRCode(from: peerId.base64Encoded)
    }

    /// The code of a device's address in a network, for a member who wants to connect.
    ///
    /// - Throws: `QRCodeError` when it does not fit.
    public func generateConnectionQR(from data: PeerConnectionData) throws -> QRSymbol {
        try generateQRCode(from: data.qrString)
    }

    /// Returns the code of an invitation, which is secret: a person who sees it within its ten minutes can join.
    ///
    /// - Throws: `QRCodeError` when it does not fit.
    public func generateInvitationQR(from invitation: Invitation) throws -> QRSymbol {
        try generateQRCode(from: invitation.qrString)
    }
}
