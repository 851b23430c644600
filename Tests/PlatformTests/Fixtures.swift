internal import Bytes

@testable internal import Platform

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: text.utf8) }

func passphrase(_ text: String) -> VaultSecret { .passphrase(secret(text)) }

/// The cheapest scrypt that the reader accepts, so that tests need not wait for the standard one.
let cheap = VaultKeyDerivation.scrypt(log2Rounds: 14)
