/// The number of a kind of failure, the same in Swift and in C.
///
/// Thousands are areas: 1000 input and output, 2000 keys, 3000 the network, 4000 services, 5000 arguments, 6000 people.
/// Programs may use numbers from 10 000 for failures of their own.
public struct RunarErrorCode: RawRepresentable, Hashable, Codable, Sendable {
    /// The number.
    public let rawValue: Int32

    /// The kind of a number, one of those below or a program's own.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }
}

extension RunarErrorCode {
    /// 1000: a file could not be read or written.
    public static let io = Self(rawValue: 1000)
    /// 1001: the database could not be read or written.
    public static let storage = Self(rawValue: 1001)

    /// 2000: the keys could not be read or stored.
    public static let keychain = Self(rawValue: 2000)
    /// 2001: the person did not release a key.
    public static let keyDenied = Self(rawValue: 2001)
    /// 2002: the passphrase or key file is wrong.
    public static let wrongSecret = Self(rawValue: 2002)
    /// 2003: this system cannot guard keys as was asked.
    public static let unsupported = Self(rawValue: 2003)
    /// 2004: another process uses the keys.
    public static let inUse = Self(rawValue: 2004)
    /// 2005: the stored keys are damaged.
    public static let damaged = Self(rawValue: 2005)
    /// 2006: no one-time keys of the peer are there.
    public static let noOneTimeKeys = Self(rawValue: 2006)
    /// 2007: the one-time key of the message was used and erased.
    public static let oneTimeKeyUsed = Self(rawValue: 2007)
    /// 2008: the one-time key of the message is in no pool.
    public static let oneTimeKeyNotFound = Self(rawValue: 2008)
    /// 2009: sealed bytes were changed, or are for another key.
    public static let notAuthentic = Self(rawValue: 2009)
    /// 2010: an exchange of one-time keys failed.
    public static let keyExchangeFailed = Self(rawValue: 2010)
    /// 2011: the digits are not those of the safety number.
    public static let wrongSafetyNumber = Self(rawValue: 2011)

    /// 3000: something on the network failed.
    public static let network = Self(rawValue: 3000)
    /// 3001: no address of the peer is known.
    public static let noAddress = Self(rawValue: 3001)
    /// 3002: the peer could not be reached.
    public static let unreachable = Self(rawValue: 3002)
    /// 3003: this device is no member of the network.
    public static let notAMember = Self(rawValue: 3003)
    /// 3004: a peer said no.
    public static let refused = Self(rawValue: 3004)
    /// 3005: a peer did not answer in time.
    public static let timedOut = Self(rawValue: 3005)
    /// 3006: the connection broke.
    public static let interrupted = Self(rawValue: 3006)
    /// 3007: the node is not running.
    public static let notRunning = Self(rawValue: 3007)
    /// 3008: an access token is no good.
    public static let badToken = Self(rawValue: 3008)
    /// 3009: as many peers as may be are connected.
    public static let tooManyPeers = Self(rawValue: 3009)
    /// 3010: the peer agreed to take a file and could not store it.
    public static let notStored = Self(rawValue: 3010)

    /// 4001: no reachable device offers the service.
    public static let noService = Self(rawValue: 4001)
    /// 4002: the service has no such action.
    public static let noAction = Self(rawValue: 4002)
    /// 4003: the service is paused or stopped.
    public static let serviceNotRunning = Self(rawValue: 4003)
    /// 4004: the request took longer than it might.
    public static let deadline = Self(rawValue: 4004)
    /// 4005: the request was cancelled.
    public static let cancelled = Self(rawValue: 4005)
    /// 4006: the handler failed with an error of its own.
    public static let handlerFailed = Self(rawValue: 4006)
    /// 4007: the receiver has too many requests under way.
    public static let busy = Self(rawValue: 4007)
    /// 4008: the request or the answer is too large.
    public static let tooLarge = Self(rawValue: 4008)
    /// 4009: the handler could not read the payload.
    public static let badPayload = Self(rawValue: 4009)

    /// 5001: a value could not be encoded.
    public static let encoding = Self(rawValue: 5001)
    /// 5002: an answer could not be decoded.
    public static let decoding = Self(rawValue: 5002)
    /// 5003: parameters are missing or wrong.
    public static let invalidParameters = Self(rawValue: 5003)
    /// 5004: a text is not UTF-8.
    public static let invalidText = Self(rawValue: 5004)
    /// 5005: an argument is NULL, or a handle is not one.
    public static let nullArgument = Self(rawValue: 5005)
    /// 5006: a path or topic is malformed.
    public static let invalidPath = Self(rawValue: 5006)

    /// 6001: this device's person has no profile.
    public static let noProfile = Self(rawValue: 6001)
    /// 6002: the card is that of this device's person.
    public static let ownCard = Self(rawValue: 6002)
    /// 6003: the circle does not contain the person.
    public static let unknownPerson = Self(rawValue: 6003)
    /// 6004: the two people do not trust each other.
    public static let notTrusted = Self(rawValue: 6004)

    /// 9999: the cause is unknown.
    public static let unknown = Self(rawValue: 9999)
}

extension RunarErrorCode {
    /// All of the library's own, by the names that they have in C, ascending.
    public static let all: [(name: String, code: RunarErrorCode)] = [
        ("IO", .io), ("STORAGE", .storage),
        ("KEYCHAIN", .keychain), ("KEY_DENIED", .keyDenied), ("WRONG_SECRET", .wrongSecret),
        ("UNSUPPORTED", .unsupported), ("IN_USE", .inUse), ("DAMAGED", .damaged),
        ("NO_ONE_TIME_KEYS", .noOneTimeKeys), ("ONE_TIME_KEY_USED", .oneTimeKeyUsed),
        ("ONE_TIME_KEY_NOT_FOUND", .oneTimeKeyNotFound), ("NOT_AUTHENTIC", .notAuthentic),
        ("KEY_EXCHANGE_FAILED", .keyExchangeFailed), ("WRONG_SAFETY_NUMBER", .wrongSafetyNumber),
        ("NETWORK", .network), ("NO_ADDRESS", .noAddress), ("UNREACHABLE", .unreachable),
        ("NOT_A_MEMBER", .notAMember), ("REFUSED", .refused), ("TIMED_OUT", .timedOut), ("INTERRUPTED", .interrupted),
        ("NOT_RUNNING", .notRunning), ("BAD_TOKEN", .badToken), ("TOO_MANY_PEERS", .tooManyPeers),
        ("NOT_STORED", .notStored),
        ("NO_SERVICE", .noService), ("NO_ACTION", .noAction),
        ("SERVICE_NOT_RUNNING", .serviceNotRunning), ("DEADLINE", .deadline), ("CANCELLED", .cancelled),
        ("HANDLER_FAILED", .handlerFailed), ("BUSY", .busy), ("TOO_LARGE", .tooLarge), ("BAD_PAYLOAD", .badPayload),
        ("ENCODING", .encoding), ("DECODING", .decoding),
        ("INVALID_PARAMETERS", .invalidParameters), ("INVALID_TEXT", .invalidText),
        ("NULL_ARGUMENT", .nullArgument), ("INVALID_PATH", .invalidPath),
        ("NO_PROFILE", .noProfile), ("OWN_CARD", .ownCard), ("UNKNOWN_PERSON", .unknownPerson),
        ("NOT_TRUSTED", .notTrusted),
        ("UNKNOWN", .unknown),
    ]
}

extension RunarErrorCode: CustomStringConvertible {
    /// The name in C, or the number.
    public var description: String {
        Self.all.first { $0.code == self }?.name ?? "\(self.rawValue)"
    }
}

extension RunarErrorCode {
    /// The word for scripts: the name in C, in lower case with hyphens.
    package var slug: String { String(self.description.lowercased().map { $0 == "_" ? "-" : $0 }) }

    /// The exit status of a command that fails with this kind; a program's own number has the status of a mistake.
    package var exitStatus: ExitStatus {
        switch self {
        case .noService, .noAddress, .unreachable, .notRunning: .unavailable
        case .noAction, .noOneTimeKeys, .noProfile: .noInput
        case .serviceNotRunning, .deadline, .cancelled, .busy, .timedOut, .interrupted, .inUse, .keyExchangeFailed,
            .notStored:
            .tryAgain
        case .tooLarge, .badPayload, .badToken, .damaged, .oneTimeKeyUsed, .oneTimeKeyNotFound, .notAuthentic,
            .wrongSafetyNumber, .ownCard, .unknownPerson:
            .data
        case .notAMember, .refused, .keyDenied, .wrongSecret, .notTrusted: .notPermitted
        case .invalidParameters, .invalidPath, .invalidText: .usage
        case .io, .storage: .inputOutput
        case .unsupported: .configuration
        default: .software
        }
    }
}
