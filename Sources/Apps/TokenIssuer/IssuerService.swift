internal import BlindTokens
internal import Concurrency
internal import Crypto
internal import ExitModel
internal import Identity
internal import IssuerStore
internal import Platform

/// The issuer without HTTP: checks vouchers, counts tokens durably, and signs.
struct IssuerService: Sendable {
    /// The life of a voucher that a purchase buys, in seconds.
    static let purchaseVoucherSeconds: UInt64 = 3_600
    private static let purchaseLabel = DomainLabel("runar/issuer-purchase-id/v1")

    let store: IssuerStore
    let threads: WorkThreads
    let clocks: Clocks
    private let secret: IssuerSecret
    /// Nil if vouchers are the only entitlements.
    private let purchaseRules: PurchaseRules?
    private let keys: Locked<IssuerKeys>

    init(
        store: IssuerStore,
        keys: IssuerKeys,
        secret: IssuerSecret,
        purchaseRules: PurchaseRules?,
        threads: WorkThreads,
        clocks: Clocks
    ) {
        self.store = store
        self.secret = secret
        self.purchaseRules = purchaseRules
        self.threads = threads
        self.clocks = clocks
        self.keys = Locked(keys)
    }

    /// The live keys, the newest first.
    var liveKeys: [IssuerKeys.Entry] { keys.withLock { $0 }.live(at: clocks.wallSeconds()) }

    /// Uses other keys from now on; signatures in progress are completed with the old ones.
    func replaceKeys(_ replacement: IssuerKeys) { keys.withLock { $0 = replacement } }

    /// Returns the voucher in a text.
    ///
    /// - Throws: ``TokenIssuerError/badVoucher``, ``TokenIssuerError/voucherExpired``.
    func voucher(in text: String) throws(TokenIssuerError) -> Voucher {
        try secret.vouchers.voucher(in: text, at: clocks.wallSeconds())
    }

    /// Signs the blinded messages of requests for a voucher, all or none.
    ///
    /// The tokens are counted durably before the first signature exists, so a crash may cost a client tokens and never gives
    /// it more. A repeated request is counted and answered again: the signature is deterministic, so the answer is equal.
    ///
    /// - Throws: ``TokenIssuerError``; ``IssuerStoreError/storage(_:)``.
    func signatures(for requests: [TokenRequest], voucher: Voucher) async throws -> [TokenResponse] {
        let now = clocks.wallSeconds()
        let current = keys.withLock { $0 }
        let work = try requests.map { request throws(TokenIssuerError) in
            guard let key = current.key(truncated: request.truncatedKeyId, at: now) else { throw .unknownTokenKey }
            guard key.publicKey.admits(request) else { throw .badTokenRequest }
            return (key: key, request: request)
        }
        return try await threads.reserving(requests.count) {
            try await count(requests.count, voucher, at: now)
            let responses = try await threads.map(work) { work in
                Result { () throws(BlindTokenError) in try work.key.response(to: work.request) }
            }
            return try responses.map { response throws(TokenIssuerError) in
                do throws(BlindTokenError) {
                    return try response.get()
                } catch {
                    throw .signingFailed
                }
            }
        }
    }

    private func count(_ count: Int, _ voucher: Voucher, at now: UInt64) async throws {
        let epoch = ExitEpoch(at: now)
        do throws(IssuerStoreError) {
            try await store.take(count, of: Int(voucher.allowance), for: voucher.entitlement, in: epoch.number)
        } catch .allowanceUsed(let remaining) {
            throw TokenIssuerError.allowanceUsed(remaining: remaining, nextEpoch: epoch.end)
        }
    }

    /// Makes a voucher for a purchase that the App Store signed.
    ///
    /// Vouchers of one purchase have one id, so they share its allowance.
    ///
    /// - Throws: ``TokenIssuerError/purchasesNotConfigured``; ``PurchaseError``.
    func entitlement(for signedTransaction: String) async throws -> (text: String, voucher: Voucher) {
        guard let purchaseRules else { throw TokenIssuerError.purchasesNotConfigured }
        let now = clocks.wallSeconds()
        let purchase = try await PurchaseProof(signedTransaction).verify(by: purchaseRules, at: now)
        let voucher = Voucher(
            id: id(of: purchase),
            allowance: purchase.allowance,
            expires: min(now + Self.purchaseVoucherSeconds, purchase.expires ?? .max)
        )
        return (secret.vouchers.text(of: voucher), voucher)
    }

    /// The id of a purchase's vouchers, which cannot be computed from the transaction without the secret.
    private func id(of purchase: Purchase) -> [UInt8] {
        let message = Self.purchaseLabel.message(
            Array(purchase.environment.rawValue.utf8),
            [0],
            Array(purchase.originalTransactionId.utf8)
        )
        let code = HMAC<SHA256>.authenticationCode(for: message, using: secret.purchases)
        return [UInt8](code.prefix(Voucher.idByteCount))
    }
}
