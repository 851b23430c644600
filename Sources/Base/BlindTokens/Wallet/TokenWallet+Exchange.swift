extension TokenWallet {
    /// A rule for a wallet that has no token which is old enough.
    public enum EmptyRule: Hashable, Sendable {
        /// Waits a random time between issuance and use.
        case wait
        /// Returns a warning, which the person can confirm.
        case ask
        /// Uses a token in the moment of its issuance: the person has confirmed the warning for this use.
        case confirmed
    }

    /// An event that the wallet handles.
    public enum Input: Hashable, Sendable {
        /// Keys that were seen over two paths (``KeyConsistency``), the one for requests first, and the number of
        /// tokens that the issuer grants for an epoch.
        case issuerListed(keyIds: [TokenKeyId], allowance: Int)
        /// A gateway's challenge, or the client's own, must be answered with a token.
        case tokenWanted(TokenChallenge, whenEmpty: EmptyRule)
        /// The token is no longer wanted.
        case wantWithdrawn
        /// The issuer answered a batch; `tokens` are verified, and those that it refused are missing.
        case batchIssued(batch: UInt64, tokens: [Token])
        /// A batch failed, and can be requested again.
        case batchFailed(batch: UInt64)
        /// The issuer grants no more tokens in this epoch.
        case allowanceUsed(batch: UInt64)
        /// The time of a ``Effect/wake(at:)`` was reached.
        case timeReached
    }

    /// An action for the caller.
    ///
    /// The caller performs actions in order, and none before the one in front of it has succeeded. A token that is used
    /// was removed in the state that is stored before, so a crash can lose a token and never use it twice.
    public enum Effect: Hashable, Sendable {
        /// Stores the snapshot durably; the actions behind it depend on it.
        case store([UInt8])
        /// Requests `count` tokens from the issuer, with new inputs and over another connection than the gateway's.
        case fetch(batch: UInt64, challenge: TokenChallenge, keyId: TokenKeyId, count: Int)
        /// Redeems the token.
        case use(Token)
        /// Reports that the wanted token can be used at this time in seconds since 1970; nil until it is issued.
        case wait(until: UInt64?)
        /// Asks the person whether to use a token in the moment of its issuance.
        case confirm(Warning)
        /// Reports that the wanted token cannot be had.
        case refuse(Refusal)
        /// Calls ``Input/timeReached`` at the time in seconds since 1970; replaces an earlier wake.
        case wake(at: UInt64)
    }

    /// The warnings that need a confirmation.
    public enum Warning: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
        /// The wallet has no token, and would request one now.
        case emptyWallet
        /// The wallet has only tokens that were issued a moment ago.
        case freshToken

        /// The warning in words.
        public var description: String {
            let risk = "issuer and gateway together could tell from the time that it is yours"
            return switch self {
            case .emptyWallet:
                "no token is left: one that is requested and used now is easier to recognise, since \(risk)"
            case .freshToken: "the tokens are too new: if one is used now, \(risk)"
            }
        }
    }

    /// The reasons for which a wanted token cannot be had.
    public enum Refusal: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
        /// The challenge is not one of this exit and an accepted epoch.
        case otherChallenge
        /// No keys of the issuer are known.
        case noKeys
        /// The tokens of the epoch are used.
        case allowanceUsed
        /// The tokens of the epoch that has ended are used, and no more are issued.
        case epochEnded
        /// The issuer did not answer.
        case issuanceFailed

        /// The reason in words, with the next step.
        public var description: String {
            switch self {
            case .otherChallenge: "the challenge is not one of this exit; check the name of the exit"
            case .noKeys: "the issuer's keys are not known yet; try again when its directory was read"
            case .allowanceUsed: "the tokens of this week are used; wait for the next week"
            case .epochEnded: "the challenge is of a week that has ended; ask the gateway for another challenge"
            case .issuanceFailed: "the issuer did not answer; try again later"
            }
        }
    }
}
