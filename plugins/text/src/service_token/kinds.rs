//! The kinds of tokens: what they are called, and their shapes.
//!
//! Prefixes, lengths and alphabets are facts of the rules of gitleaks (<https://github.com/gitleaks/gitleaks>) and betterleaks
//! (<https://github.com/betterleaks/betterleaks>), both under the MIT license, Copyright (c) Zachary Rice; the texts are in
//! `../../licenses`. Others are of the vendors' documents, and of the rules of Nosey Parker
//! (<https://github.com/praetorian-inc/noseyparker>, Apache-2.0).

use super::shape::Alphabet::{Alphanumeric, Base64, Digits, Hex, Letters, Lower, Upper, Url};
use super::shape::Part::{self, Between, Exactly, Padding, Payload, Text};

/// Condition that a token must meet besides its shape.
#[derive(Clone, Copy)]
pub(super) enum Check {
    Shape,
    /// A text somewhere in it.
    Contains(&'static str),
    /// GitHub's and npm's checksum.
    Base62,
    /// GitLab's checksum.
    Base36,
    /// Grafana's checksum.
    Hex,
    /// A secret near it, without which it is no more than a name.
    SecretBeside,
}

impl Check {
    /// Whether the check is a checksum, which other texts do not pass.
    pub(super) fn is_checksum(self) -> bool {
        matches!(self, Self::Base62 | Self::Base36 | Self::Hex)
    }
}

/// A kind of tokens.
pub(super) struct Kind {
    /// Prefix of the tokens; empty if they begin with a number.
    pub(super) prefix: &'static str,
    /// Name of the token in messages, with its article.
    pub(super) name: &'static str,
    pub(super) parts: &'static [Part],
    pub(super) check: Check,
}

#[cfg(test)]
impl Kind {
    /// The fewest characters that a token of the kind has.
    pub(super) fn least_length(&self) -> usize {
        let least = |part: &Part| match part {
            Text(text) => text.len(),
            Padding => 0,
            Exactly(_, count) | Between(_, count, _) | Payload(_, count, _) => *count,
        };
        self.prefix.len() + self.parts.iter().map(least).sum::<usize>()
    }
}

const fn kind(prefix: &'static str, name: &'static str, parts: &'static [Part]) -> Kind {
    checked(prefix, name, parts, Check::Shape)
}

const fn checked(prefix: &'static str, name: &'static str, parts: &'static [Part], check: Check) -> Kind {
    Kind { prefix, name, parts, check }
}

/// Every kind, sorted by the first byte of the prefix, if it has one.
#[rustfmt::skip]
pub(super) const KINDS: &[Kind] = &[
    kind("", "a Telegram bot token", &[Between(Digits, 8, 10), Text(":AA"), Exactly(Url, 33)]),
    kind("ABSKQmVkcm9ja0FQSUtleS", "an Amazon Bedrock key", &[Payload(Base64, 80, 260), Padding]),
    kind("AKCp", "an Artifactory key", &[Exactly(Alphanumeric, 69)]),
    checked("AKIA", "an AWS access key with its secret", &[Exactly(Upper, 16)], Check::SecretBeside),
    kind("ATATT3xFfGF0", "an Atlassian token", &[Between(Url, 150, 200), Text("="), Exactly(Hex, 8)]),
    kind("ATBB", "a Bitbucket app password", &[Exactly(Alphanumeric, 32)]),
    kind("AccountKey=", "a key of an Azure storage account", &[Exactly(Base64, 86), Text("==")]),
    kind("AstraCS:", "an Astra DB token", &[Between(Alphanumeric, 20, 30), Text(":"), Exactly(Hex, 64)]),
    kind("CCDB1_", "a CockroachDB Cloud key", &[Exactly(Alphanumeric, 22), Text("_"), Exactly(Alphanumeric, 40)]),
    kind("CCIPAT_", "a CircleCI token", &[Exactly(Alphanumeric, 22), Text("_"), Exactly(Hex, 40)]),
    kind("CCIPRJ_", "a CircleCI token", &[Exactly(Alphanumeric, 22), Text("_"), Exactly(Hex, 40)]),
    kind("CFPAT-", "a Contentful token", &[Exactly(Url, 43)]),
    kind("CLOJARS_", "a Clojars token", &[Exactly(Hex, 60)]),
    kind("EZAK", "an EasyPost key", &[Exactly(Alphanumeric, 54)]),
    kind("FLWSECK-", "a Flutterwave secret key", &[Exactly(Lower, 32), Text("-X")]),
    kind("GR1348941", "a GitLab runner registration token", &[Exactly(Url, 20)]),
    kind("HRKU-AA", "a Heroku key", &[Exactly(Url, 58)]),
    kind("NRAK-", "a New Relic user key", &[Exactly(Upper, 27)]),
    kind("PMAK-", "a Postman key", &[Exactly(Hex, 24), Text("-"), Exactly(Hex, 34)]),
    kind("SG.", "a SendGrid key", &[Exactly(Url, 22), Text("."), Exactly(Url, 43)]),
    kind("SharedAccessKey=", "an Azure shared access key", &[Exactly(Base64, 43), Text("=")]),
    kind("access-production-", "a Plaid access token", &[Exactly(Hex, 8), Text("-"), Exactly(Hex, 4), Text("-"), Exactly(Hex, 4), Text("-"), Exactly(Hex, 4), Text("-"), Exactly(Hex, 12)]),
    kind("aio_", "an Adafruit IO key", &[Exactly(Alphanumeric, 28)]),
    kind("api_org_", "a Hugging Face token", &[Exactly(Letters, 34)]),
    kind("apify_api_", "an Apify token", &[Exactly(Alphanumeric, 36)]),
    kind("atlasv1.", "an HCP Terraform token", &[Between(Url, 60, 70)]),
    kind("bkua_", "a Buildkite token", &[Exactly(Lower, 40)]),
    kind("cio", "a crates.io token", &[Exactly(Alphanumeric, 32)]),
    kind("cmVmdGtuOj", "an Artifactory token", &[Payload(Alphanumeric, 54, 54)]),
    kind("cnvca", "a Canva client secret", &[Exactly(Url, 51)]),
    kind("csk-", "a Cerebras key", &[Exactly(Lower, 48)]),
    kind("dapi", "a Databricks token", &[Exactly(Hex, 32)]),
    kind("dapi", "a Databricks token", &[Exactly(Hex, 32), Text("-"), Exactly(Digits, 1)]),
    kind("dckr_oat_", "a Docker Hub token", &[Exactly(Url, 32)]),
    kind("dckr_pat_", "a Docker Hub token", &[Exactly(Url, 27)]),
    kind("ddp_", "a Deno Deploy token", &[Exactly(Alphanumeric, 36)]),
    kind("discord.com/api/webhooks/", "a Discord webhook", &[Between(Digits, 17, 20), Text("/"), Exactly(Url, 68)]),
    kind("discordapp.com/api/webhooks/", "a Discord webhook", &[Between(Digits, 17, 20), Text("/"), Exactly(Url, 68)]),
    kind("doo_v1_", "a DigitalOcean token", &[Exactly(Hex, 64)]),
    kind("dop_v1_", "a DigitalOcean token", &[Exactly(Hex, 64)]),
    kind("dor_v1_", "a DigitalOcean token", &[Exactly(Hex, 64)]),
    kind("dp.audit.", "a Doppler token", &[Between(Alphanumeric, 40, 44)]),
    kind("dp.ct.", "a Doppler token", &[Between(Alphanumeric, 40, 44)]),
    kind("dp.pt.", "a Doppler token", &[Between(Alphanumeric, 40, 44)]),
    kind("dp.sa.", "a Doppler token", &[Between(Alphanumeric, 40, 44)]),
    kind("dp.scim.", "a Doppler token", &[Between(Alphanumeric, 40, 44)]),
    kind("dp.st.", "a Doppler token", &[Between(Alphanumeric, 40, 44)]),
    kind("dt0c01.", "a Dynatrace token", &[Exactly(Upper, 24), Text("."), Exactly(Upper, 64)]),
    kind("duffel_live_", "a Duffel token", &[Exactly(Url, 43)]),
    kind("figd_", "a Figma token", &[Between(Url, 38, 42)]),
    kind("fio-u-", "a Frame.io token", &[Exactly(Url, 64)]),
    kind("fm2_", "a Fly.io token", &[Payload(Base64, 100, 400), Padding]),
    kind("fo1_", "a Fly.io token", &[Exactly(Url, 43)]),
    checked("gho_", "a GitHub OAuth token", &[Exactly(Alphanumeric, 36)], Check::Base62),
    checked("ghp_", "a GitHub personal access token", &[Exactly(Alphanumeric, 36)], Check::Base62),
    checked("ghr_", "a GitHub refresh token", &[Exactly(Alphanumeric, 76)], Check::Base62),
    checked("ghs_", "a token of a GitHub app", &[Exactly(Alphanumeric, 36)], Check::Base62),
    checked("ghu_", "a token of a GitHub app", &[Exactly(Alphanumeric, 36)], Check::Base62),
    kind("github_pat_", "a GitHub personal access token", &[Exactly(Alphanumeric, 22), Text("_"), Exactly(Alphanumeric, 59)]),
    kind("glagent-", "a GitLab agent token", &[Exactly(Url, 50)]),
    kind("glc_eyJ", "a Grafana Cloud token", &[Payload(Base64, 60, 400), Padding]),
    checked("gldt-", "a GitLab deploy token", &[Payload(Url, 27, 300), Text("."), Exactly(Lower, 2), Text("."), Exactly(Lower, 9)], Check::Base36),
    checked("gldt-", "a GitLab deploy token", &[Payload(Url, 27, 300), Text("."), Exactly(Lower, 9)], Check::Base36),
    kind("gldt-", "a GitLab deploy token", &[Exactly(Url, 20)]),
    checked("glft-", "a GitLab feed token", &[Payload(Url, 27, 300), Text("."), Exactly(Lower, 2), Text("."), Exactly(Lower, 9)], Check::Base36),
    checked("glft-", "a GitLab feed token", &[Payload(Url, 27, 300), Text("."), Exactly(Lower, 9)], Check::Base36),
    kind("glft-", "a GitLab feed token", &[Exactly(Url, 20)]),
    kind("gloas-", "a secret of a GitLab OAuth application", &[Exactly(Hex, 64)]),
    checked("glpat-", "a GitLab personal access token", &[Payload(Url, 27, 300), Text("."), Exactly(Lower, 2), Text("."), Exactly(Lower, 9)], Check::Base36),
    checked("glpat-", "a GitLab personal access token", &[Payload(Url, 27, 300), Text("."), Exactly(Lower, 9)], Check::Base36),
    kind("glpat-", "a GitLab personal access token", &[Exactly(Url, 20)]),
    kind("glptt-", "a GitLab trigger token", &[Exactly(Hex, 40)]),
    checked("glrt-", "a GitLab runner token", &[Payload(Url, 27, 300), Text("."), Exactly(Lower, 2), Text("."), Exactly(Lower, 9)], Check::Base36),
    checked("glrt-", "a GitLab runner token", &[Payload(Url, 27, 300), Text("."), Exactly(Lower, 9)], Check::Base36),
    kind("glrt-", "a GitLab runner token", &[Exactly(Url, 20)]),
    checked("glsa_", "a Grafana service account token", &[Exactly(Alphanumeric, 32), Text("_"), Exactly(Hex, 8)], Check::Hex),
    checked("glsoat-", "a GitLab SCIM token", &[Payload(Url, 27, 300), Text("."), Exactly(Lower, 2), Text("."), Exactly(Lower, 9)], Check::Base36),
    checked("glsoat-", "a GitLab SCIM token", &[Payload(Url, 27, 300), Text("."), Exactly(Lower, 9)], Check::Base36),
    kind("glsoat-", "a GitLab SCIM token", &[Exactly(Url, 20)]),
    kind("gsk_", "a Groq key", &[Exactly(Alphanumeric, 52)]),
    kind("hf_", "a Hugging Face token", &[Exactly(Letters, 34)]),
    kind("hooks.slack.com/services/T", "a Slack webhook", &[Between(Upper, 8, 12), Text("/B"), Between(Upper, 8, 12), Text("/"), Exactly(Alphanumeric, 24)]),
    kind("hvb.", "a HashiCorp Vault token", &[Payload(Url, 138, 300)]),
    kind("hvs.", "a HashiCorp Vault token", &[Payload(Url, 90, 120)]),
    kind("ico-", "an Infracost key", &[Exactly(Alphanumeric, 32)]),
    kind("ion_", "an Ionic token", &[Exactly(Alphanumeric, 42)]),
    kind("lin_api_", "a Linear key", &[Exactly(Alphanumeric, 40)]),
    kind("lsv2_pt_", "a LangSmith token", &[Exactly(Hex, 32), Text("_"), Exactly(Hex, 10)]),
    kind("lsv2_sk_", "a LangSmith key", &[Exactly(Hex, 32), Text("_"), Exactly(Hex, 10)]),
    kind("mdb_sa_sk_", "a MongoDB Atlas secret", &[Exactly(Url, 40)]),
    kind("mlsn.", "a MailerSend token", &[Exactly(Hex, 64)]),
    kind("napi_", "a Neon key", &[Exactly(Lower, 64)]),
    checked("npm_", "an npm token", &[Exactly(Alphanumeric, 36)], Check::Base62),
    kind("ntn_", "a Notion token", &[Exactly(Digits, 11), Exactly(Alphanumeric, 35)]),
    kind("nvapi-", "an NVIDIA key", &[Between(Url, 60, 70)]),
    kind("p8e-", "an Adobe client secret", &[Exactly(Alphanumeric, 32)]),
    kind("pat", "an Airtable token", &[Exactly(Alphanumeric, 14), Text("."), Exactly(Hex, 64)]),
    kind("pat-eu1-", "a HubSpot token", &[Exactly(Hex, 8), Text("-"), Exactly(Hex, 4), Text("-"), Exactly(Hex, 4), Text("-"), Exactly(Hex, 4), Text("-"), Exactly(Hex, 12)]),
    kind("pat-na1-", "a HubSpot token", &[Exactly(Hex, 8), Text("-"), Exactly(Hex, 4), Text("-"), Exactly(Hex, 4), Text("-"), Exactly(Hex, 4), Text("-"), Exactly(Hex, 12)]),
    kind("pat-na2-", "a HubSpot token", &[Exactly(Hex, 8), Text("-"), Exactly(Hex, 4), Text("-"), Exactly(Hex, 4), Text("-"), Exactly(Hex, 4), Text("-"), Exactly(Hex, 12)]),
    kind("pat.", "a Harness token", &[Exactly(Url, 22), Text("."), Exactly(Hex, 24), Text("."), Exactly(Alphanumeric, 20)]),
    kind("pcsk_", "a Pinecone key", &[Between(Alphanumeric, 5, 6), Text("_"), Exactly(Alphanumeric, 63)]),
    kind("pdl_live_apikey_", "a Paddle key", &[Exactly(Lower, 26), Text("_"), Exactly(Alphanumeric, 22), Text("_"), Exactly(Alphanumeric, 3)]),
    kind("phx_", "a PostHog personal key", &[Between(Alphanumeric, 43, 49)]),
    kind("pnu_", "a Prefect key", &[Exactly(Alphanumeric, 36)]),
    kind("pplx-", "a Perplexity key", &[Exactly(Alphanumeric, 48)]),
    kind("pscale_oauth_", "a PlanetScale token", &[Between(Url, 32, 64)]),
    kind("pscale_pw_", "a PlanetScale password", &[Between(Url, 32, 64)]),
    kind("pscale_tkn_", "a PlanetScale token", &[Between(Url, 32, 64)]),
    kind("pul-", "a Pulumi token", &[Exactly(Hex, 40)]),
    kind("pypi-AgEIcHlwaS5vcmc", "a PyPI token", &[Payload(Url, 70, 400)]),
    kind("pypi-AgENdGVzdC5weXBpLm9yZw", "a TestPyPI token", &[Payload(Url, 70, 400)]),
    kind("r8_", "a Replicate token", &[Exactly(Alphanumeric, 37)]),
    kind("ramp_sec_", "a Ramp client secret", &[Exactly(Alphanumeric, 48)]),
    kind("rdme_", "a ReadMe key", &[Exactly(Lower, 70)]),
    kind("rk_live_", "a live restricted key of Stripe", &[Exactly(Alphanumeric, 24)]),
    kind("rk_live_", "a live restricted key of Stripe", &[Text("51"), Between(Alphanumeric, 90, 250)]),
    kind("rnd_", "a Render key", &[Exactly(Alphanumeric, 28)]),
    kind("rootly_", "a Rootly key", &[Exactly(Hex, 64)]),
    kind("rubygems_", "a RubyGems token", &[Exactly(Hex, 48)]),
    kind("sat.", "a Harness token", &[Exactly(Url, 22), Text("."), Exactly(Hex, 24), Text("."), Exactly(Alphanumeric, 20)]),
    kind("sb_secret_", "a Supabase secret key", &[Exactly(Url, 31)]),
    kind("sbp_", "a Supabase token", &[Exactly(Hex, 40)]),
    kind("sgp_", "a Sourcegraph token", &[Exactly(Hex, 16), Text("_"), Exactly(Hex, 40)]),
    kind("sgp_", "a Sourcegraph token", &[Exactly(Hex, 40)]),
    kind("sgp_", "a Segment token", &[Exactly(Alphanumeric, 64)]),
    kind("sgp_local_", "a Sourcegraph token", &[Exactly(Hex, 40)]),
    kind("sha256~", "an OpenShift token", &[Exactly(Url, 43)]),
    kind("shippo_live_", "a Shippo token", &[Exactly(Hex, 40)]),
    kind("shpat_", "a Shopify access token", &[Exactly(Hex, 32)]),
    kind("shpca_", "a Shopify access token", &[Exactly(Hex, 32)]),
    kind("shppa_", "a Shopify access token", &[Exactly(Hex, 32)]),
    kind("shpss_", "a Shopify shared secret", &[Exactly(Hex, 32)]),
    checked("sk-", "an OpenAI key", &[Exactly(Alphanumeric, 48)], Check::Contains("T3BlbkFJ")),
    checked("sk-admin-", "an OpenAI key", &[Between(Url, 48, 170)], Check::Contains("T3BlbkFJ")),
    kind("sk-ant-admin01-", "an Anthropic key", &[Exactly(Url, 95)]),
    kind("sk-ant-api03-", "an Anthropic key", &[Exactly(Url, 95)]),
    kind("sk-ant-oat01-", "an Anthropic key", &[Exactly(Url, 95)]),
    kind("sk-or-v1-", "an OpenRouter key", &[Exactly(Hex, 64)]),
    checked("sk-proj-", "an OpenAI key", &[Between(Url, 48, 170)], Check::Contains("T3BlbkFJ")),
    checked("sk-svcacct-", "an OpenAI key", &[Between(Url, 48, 170)], Check::Contains("T3BlbkFJ")),
    kind("sk.eyJ1Ijoi", "a Mapbox secret token", &[Payload(Url, 44, 240), Text("."), Exactly(Url, 22)]),
    kind("sk_live_", "a live secret key of Stripe", &[Exactly(Alphanumeric, 24)]),
    kind("sk_live_", "a live secret key of Stripe", &[Text("51"), Between(Alphanumeric, 90, 250)]),
    kind("sntrys_eyJpYXQiO", "a Sentry token", &[Payload(Base64, 80, 400), Padding, Text("_"), Exactly(Base64, 43)]),
    kind("sntryu_", "a Sentry token", &[Exactly(Hex, 64)]),
    kind("sq0atp-", "a Square token", &[Exactly(Url, 22)]),
    kind("sq0csp-", "a Square secret", &[Exactly(Url, 43)]),
    kind("sqa_", "a SonarQube token", &[Exactly(Hex, 40)]),
    kind("sqp_", "a SonarQube token", &[Exactly(Hex, 40)]),
    kind("squ_", "a SonarQube token", &[Exactly(Hex, 40)]),
    kind("tgp_v1_", "a Together AI key", &[Exactly(Url, 43)]),
    kind("tk-us-", "a Scalingo token", &[Exactly(Url, 48)]),
    checked("tskey-api-", "a Tailscale key", &[Between(Alphanumeric, 8, 24), Text("-"), Between(Alphanumeric, 20, 48)], Check::Contains("CNTRL")),
    checked("tskey-auth-", "a Tailscale key", &[Between(Alphanumeric, 8, 24), Text("-"), Between(Alphanumeric, 20, 48)], Check::Contains("CNTRL")),
    kind("v1.0-", "a Cloudflare Origin CA key", &[Exactly(Hex, 24), Text("-"), Exactly(Hex, 146)]),
    kind("vca_", "a Vercel token", &[Exactly(Url, 56)]),
    kind("vcc_", "a Vercel token", &[Exactly(Url, 56)]),
    kind("vci_", "a Vercel token", &[Exactly(Url, 56)]),
    kind("vck_", "a Vercel token", &[Exactly(Url, 56)]),
    kind("vcp_", "a Vercel token", &[Exactly(Url, 56)]),
    kind("vcr_", "a Vercel token", &[Exactly(Url, 56)]),
    kind("xai-", "an xAI key", &[Exactly(Alphanumeric, 80)]),
    kind("xapp-1-", "a Slack app token", &[Between(Upper, 9, 12), Text("-"), Between(Digits, 10, 13), Text("-"), Exactly(Hex, 64)]),
    kind("xkeysib-", "a Brevo key", &[Exactly(Hex, 64), Text("-"), Exactly(Alphanumeric, 16)]),
    kind("xoxb-", "a Slack bot token", &[Between(Digits, 10, 13), Text("-"), Between(Digits, 10, 13), Text("-"), Exactly(Alphanumeric, 24)]),
    kind("xoxc-", "a Slack session token", &[Between(Digits, 9, 15), Text("-"), Between(Digits, 9, 15), Text("-"), Between(Digits, 9, 15), Text("-"), Exactly(Hex, 64)]),
    kind("xoxe-1-", "a Slack refresh token", &[Payload(Alphanumeric, 146, 146)]),
    kind("xoxe.xoxb-1-", "a Slack bot token", &[Payload(Alphanumeric, 163, 166)]),
    kind("xoxe.xoxp-1-", "a Slack configuration token", &[Payload(Alphanumeric, 163, 166)]),
    kind("xoxp-", "a Slack user token", &[Between(Digits, 10, 13), Text("-"), Between(Digits, 10, 13), Text("-"), Between(Digits, 10, 13), Text("-"), Exactly(Hex, 32)]),
    kind("xsmtpsib-", "a Brevo key", &[Exactly(Hex, 64), Text("-"), Exactly(Alphanumeric, 16)]),
    kind("zpka_", "a Zuplo key", &[Exactly(Lower, 32), Text("_"), Exactly(Hex, 8)]),
];
