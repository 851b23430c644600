internal import Bytes
internal import Crypto
internal import ExitModel
internal import Identity

/// The key that authenticates vouchers: HMAC-SHA256 over their fields.
struct VoucherKey: Sendable {
    private static let label = DomainLabel("runar/issuer-voucher/v1")

    private let key: SymmetricKey

    init(_ key: SymmetricKey) {
        self.key = key
    }

    /// Returns the text form of a voucher.
    func text(of voucher: Voucher) -> String {
        voucher.text(code: code(of: voucher.fields))
    }

    /// Returns the voucher in a text.
    ///
    /// - Throws: ``TokenIssuerError/badVoucher`` if this key did not make it; ``TokenIssuerError/voucherExpired``.
    func voucher(in text: String, at nowSeconds: UInt64) throws(TokenIssuerError) -> Voucher {
        guard let (fields, code) = Voucher.parts(of: text), ConstantTime.areEqual(code, self.code(of: fields)),
            let voucher = Voucher(fields: fields)
        else { throw .badVoucher }
        guard nowSeconds < voucher.expires else { throw .voucherExpired }
        return voucher
    }

    private func code(of fields: [UInt8]) -> [UInt8] {
        [UInt8](HMAC<SHA256>.authenticationCode(for: Self.label.message(fields), using: key))
    }
}
