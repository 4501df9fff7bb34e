//! The format of a file, told once for reading and for writing.
//!
//! A [`Tape`] passes tokens in file order: a reader fills in what it is handed, a writer spells it. The functions below
//! walk a network along a tape; where sizes must agree, they say so with the layer's name.

mod parts;

use parts::{act, bias, conv, matmul, norm, norm_act_conv, rms, tip_rms};

use super::model::{
    AttentionBlock, Block, Decimal, FeedForwardBlock, GlobalPoolBlock, KataNetwork, MetaEncoder,
    NormActConv, PolicyHead, Rope, Tip, TipRms, Trunk, ValueHead,
};
use super::reader::KataDamage;
use super::{INPUT_GLOBALS, INPUT_METADATA, INPUT_PLANES, VERSIONS};
use crate::weights::Weights;

pub(super) type Passed = Result<(), KataDamage>;

/// Passes the tokens of a file in order.
pub(super) trait Tape {
    /// A name; from here on errors speak of it.
    fn name(&mut self, name: &mut String) -> Passed;
    /// A word with a meaning of its own.
    fn word(&mut self, what: &str, word: &mut String) -> Passed;
    fn whole(&mut self, what: &str, number: &mut usize) -> Passed;
    fn decimal(&mut self, what: &str, number: &mut Decimal) -> Passed;
    /// Floats, all finite.
    fn floats(&mut self, what: &str, len: usize, numbers: &mut Weights) -> Passed;
    /// An error about the layer that is being passed.
    fn wrong(&self, found: String, expected: String) -> KataDamage;

    fn flag(&mut self, what: &str, flag: &mut bool) -> Passed {
        let mut number = usize::from(*flag);
        self.whole(what, &mut number)?;
        match number {
            0 | 1 => {
                *flag = number == 1;
                Ok(())
            }
            other => Err(self.wrong(format!("{what} {other}"), "0 or 1".into())),
        }
    }

    /// A whole number that must be what it is.
    fn fixed(&mut self, what: &str, number: usize) -> Passed {
        let mut found = number;
        self.whole(what, &mut found)?;
        self.same(what, found, number)
    }

    /// A number of channels, heads or the like.
    fn size(&mut self, what: &str, number: &mut usize) -> Passed {
        self.whole(what, number)?;
        if (1..=MOST_CHANNELS).contains(number) {
            return Ok(());
        }
        let expected = format!("1 to {MOST_CHANNELS}");
        Err(self.wrong(format!("{what} {number}"), expected))
    }

    fn same(&self, what: &str, found: usize, expected: usize) -> Passed {
        if found == expected {
            return Ok(());
        }
        Err(self.wrong(format!("{what} {found}"), expected.to_string()))
    }

    fn positive(&mut self, what: &str, number: &mut Decimal) -> Passed {
        self.decimal(what, number)?;
        if number.value > 0.0 && number.value.is_finite() {
            return Ok(());
        }
        let found = format!("{what} {}", number.text);
        Err(self.wrong(found, "a positive number".into()))
    }
}

/// More channels than any network has; a damaged number must not make us reserve memory by it.
const MOST_CHANNELS: usize = 1 << 14;
const MOST_BLOCKS: usize = 1 << 10;
const MOST_NESTED: usize = 8;
const LARGEST_KERNEL: usize = 25;

/// The first versions with each part of the format.
const ACTIVATION_KINDS: u32 = 11;
const MULTIPLIERS: u32 = 13;
const METADATA: u32 = 15;
const STATED_POLICY: u32 = 17;

/// Names longer than this are refused by KataGo, too.
const LONGEST_NAME: usize = 96;

pub(super) fn network(tape: &mut impl Tape, network: &mut KataNetwork) -> Passed {
    header(tape, network)?;
    let version = network.header.version;
    let mut meta_inputs = 0;
    if network.header.meta_encoder {
        meta_inputs = INPUT_METADATA;
    }
    trunk(tape, version, meta_inputs, &mut network.trunk)?;
    let channels = network.trunk.channels;
    policy_head(tape, version, channels, &mut network.policy)?;
    value_head(tape, version, channels, &mut network.value)
}

fn header(tape: &mut impl Tape, network: &mut KataNetwork) -> Passed {
    let header = &mut network.header;
    tape.name(&mut header.name)?;
    if header.name.len() > LONGEST_NAME {
        let found = format!("a name of {} characters", header.name.len());
        return Err(tape.wrong(found, format!("at most {LONGEST_NAME}")));
    }
    let mut version = header.version as usize;
    tape.whole("version", &mut version)?;
    header.version = match u32::try_from(version) {
        Ok(version) if VERSIONS.contains(&version) => version,
        _ => {
            let (first, last) = VERSIONS.into_inner();
            let expected = format!("{first} to {last}");
            return Err(tape.wrong(format!("version {version}"), expected));
        }
    };
    tape.fixed("input planes", INPUT_PLANES)?;
    tape.fixed("input globals", INPUT_GLOBALS)?;
    if header.version >= MULTIPLIERS {
        let by = &mut header.multipliers;
        tape.positive("score multiplier", &mut by.td_score)?;
        tape.positive("score mean multiplier", &mut by.score_mean)?;
        tape.positive("score deviation multiplier", &mut by.score_stdev)?;
        tape.positive("lead multiplier", &mut by.lead)?;
        tape.positive("variance time multiplier", &mut by.variance_time)?;
        tape.positive(
            "short-term value error multiplier",
            &mut by.shortterm_value_error,
        )?;
        tape.positive(
            "short-term score error multiplier",
            &mut by.shortterm_score_error,
        )?;
    }
    if header.version >= METADATA {
        tape.flag("metadata encoder version", &mut header.meta_encoder)?;
        tape.flag("pass-alive flag", &mut header.pass_alive_under_suicide)?;
        for _ in 0..6 {
            tape.fixed("unused number", 0)?;
        }
    }
    Ok(())
}

fn trunk(tape: &mut impl Tape, version: u32, meta_inputs: usize, trunk: &mut Trunk) -> Passed {
    tape.name(&mut trunk.name)?;
    let mut blocks = trunk.blocks.len();
    count(tape, &mut blocks)?;
    tape.size("trunk channels", &mut trunk.channels)?;
    for channels in &mut trunk.other_channels {
        tape.size("channels", channels)?;
    }
    let mut rms_tip = matches!(trunk.tip, Tip::Rms(_));
    if version >= METADATA {
        tape.flag("kind of normalisation", &mut rms_tip)?;
        for _ in 0..5 {
            tape.fixed("unused number", 0)?;
        }
    }
    let channels = trunk.channels;
    conv(tape, &mut trunk.initial_conv, INPUT_PLANES, Some(channels))?;
    matmul(
        tape,
        &mut trunk.initial_globals,
        INPUT_GLOBALS,
        Some(channels),
    )?;
    if meta_inputs > 0 {
        let encoder = trunk.meta_encoder.get_or_insert_default();
        meta_encoder(tape, version, encoder, meta_inputs, channels)?;
    }
    stack(tape, version, channels, blocks, 0, &mut trunk.blocks)?;
    if rms_tip != matches!(trunk.tip, Tip::Rms(_)) {
        trunk.tip = Tip::Rms(TipRms::default());
    }
    match &mut trunk.tip {
        Tip::Norm(tip) => norm(tape, tip, channels)?,
        Tip::Rms(tip) => tip_rms(tape, tip, channels)?,
    }
    act(tape, version, &mut trunk.tip_act)
}

fn count(tape: &mut impl Tape, blocks: &mut usize) -> Passed {
    tape.whole("number of blocks", blocks)?;
    if (1..=MOST_BLOCKS).contains(blocks) {
        return Ok(());
    }
    Err(tape.wrong(format!("{blocks} blocks"), format!("1 to {MOST_BLOCKS}")))
}

fn stack(
    tape: &mut impl Tape,
    version: u32,
    channels: usize,
    count: usize,
    depth: usize,
    blocks: &mut Vec<Block>,
) -> Passed {
    for index in 0..count {
        let mut kind = blocks.get(index).map_or("", Block::kind).to_owned();
        tape.word("kind of block", &mut kind)?;
        if index == blocks.len() {
            let Some(empty) = Block::of_kind(&kind) else {
                let expected = "ordinary_block, gpool_block, nested_bottleneck_block, transformer_attention_block \
                                or transformer_ffn_block";
                return Err(tape.wrong(format!("block kind `{kind}`"), expected.into()));
            };
            blocks.push(empty);
        }
        block(tape, version, channels, depth, &mut blocks[index])?;
    }
    Ok(())
}

impl Block {
    const ORDINARY: &str = "ordinary_block";
    const GLOBAL_POOL: &str = "gpool_block";
    const NESTED: &str = "nested_bottleneck_block";
    const ATTENTION: &str = "transformer_attention_block";
    const FEED_FORWARD: &str = "transformer_ffn_block";

    fn kind(&self) -> &'static str {
        match self {
            Self::Ordinary { .. } => Self::ORDINARY,
            Self::GlobalPool(_) => Self::GLOBAL_POOL,
            Self::Nested { .. } => Self::NESTED,
            Self::Attention(_) => Self::ATTENTION,
            Self::FeedForward(_) => Self::FEED_FORWARD,
        }
    }

    fn of_kind(kind: &str) -> Option<Self> {
        Some(match kind {
            Self::ORDINARY => Self::Ordinary {
                name: String::new(),
                first: NormActConv::default(),
                second: NormActConv::default(),
            },
            Self::GLOBAL_POOL => Self::GlobalPool(Box::default()),
            Self::NESTED => Self::Nested {
                name: String::new(),
                first: NormActConv::default(),
                inner: Vec::new(),
                last: NormActConv::default(),
            },
            Self::ATTENTION => Self::Attention(Box::default()),
            Self::FEED_FORWARD => Self::FeedForward(Box::default()),
            _ => return None,
        })
    }
}

fn block(
    tape: &mut impl Tape,
    version: u32,
    channels: usize,
    depth: usize,
    block: &mut Block,
) -> Passed {
    match block {
        Block::Ordinary {
            name,
            first,
            second,
        } => {
            tape.name(name)?;
            norm_act_conv(tape, version, first, channels, None)?;
            norm_act_conv(tape, version, second, first.conv.outputs, Some(channels))
        }
        Block::GlobalPool(block) => global_pool(tape, version, channels, block),
        Block::Nested {
            name,
            first,
            inner,
            last,
        } => {
            tape.name(name)?;
            if depth >= MOST_NESTED {
                let expected = format!("at most {MOST_NESTED} blocks within blocks");
                return Err(tape.wrong("one more".into(), expected));
            }
            let mut inner_blocks = inner.len();
            count(tape, &mut inner_blocks)?;
            norm_act_conv(tape, version, first, channels, None)?;
            let middle = first.conv.outputs;
            stack(tape, version, middle, inner_blocks, depth + 1, inner)?;
            norm_act_conv(tape, version, last, middle, Some(channels))
        }
        Block::Attention(block) => attention(tape, channels, block),
        Block::FeedForward(block) => feed_forward(tape, channels, block),
    }
}

fn global_pool(
    tape: &mut impl Tape,
    version: u32,
    channels: usize,
    block: &mut GlobalPoolBlock,
) -> Passed {
    tape.name(&mut block.name)?;
    norm(tape, &mut block.norm, channels)?;
    act(tape, version, &mut block.act)?;
    conv(tape, &mut block.regular, channels, None)?;
    conv(tape, &mut block.pooled, channels, None)?;
    norm(tape, &mut block.pooled_norm, block.pooled.outputs)?;
    act(tape, version, &mut block.pooled_act)?;
    let regular = block.regular.outputs;
    matmul(
        tape,
        &mut block.to_bias,
        3 * block.pooled.outputs,
        Some(regular),
    )?;
    norm_act_conv(tape, version, &mut block.last, regular, Some(channels))
}

fn attention(tape: &mut impl Tape, channels: usize, block: &mut AttentionBlock) -> Passed {
    tape.name(&mut block.name)?;
    tape.size("heads", &mut block.heads)?;
    tape.size("key and value heads", &mut block.kv_heads)?;
    tape.size("query length", &mut block.query_len)?;
    tape.size("value length", &mut block.value_len)?;
    let (heads, kv_heads) = (block.heads, block.kv_heads);
    if !heads.is_multiple_of(kv_heads) {
        let found = format!("{heads} heads on {kv_heads} key and value heads");
        return Err(tape.wrong(found, "a whole number on each".into()));
    }
    let mut has_rope = block.rope != Rope::None;
    let mut learned = matches!(block.rope, Rope::Learned { .. });
    tape.flag("use of rotary encoding", &mut has_rope)?;
    tape.flag("learnt rotary encoding", &mut learned)?;
    if has_rope && !block.query_len.is_multiple_of(2) {
        let found = format!("a query length of {}", block.query_len);
        return Err(tape.wrong(found, "an even number".into()));
    }
    rms(tape, &mut block.norm, channels)?;
    let (query, value) = (block.query_len, block.value_len);
    matmul(tape, &mut block.query, channels, Some(heads * query))?;
    matmul(tape, &mut block.key, channels, Some(kv_heads * query))?;
    matmul(tape, &mut block.value, channels, Some(kv_heads * value))?;
    matmul(tape, &mut block.out, heads * value, Some(channels))?;
    if !has_rope {
        return Ok(());
    }
    if block.rope == Rope::None {
        block.rope = if learned {
            Rope::Learned {
                name: String::new(),
                frequencies: Weights::default(),
            }
        } else {
            Rope::Fixed {
                name: String::new(),
                theta: Decimal::default(),
            }
        };
    }
    match &mut block.rope {
        Rope::None => Ok(()),
        Rope::Learned { name, frequencies } => {
            tape.name(name)?;
            tape.fixed("key and value heads", kv_heads)?;
            tape.fixed("pairs", query / 2)?;
            tape.fixed("axes", 2)?;
            tape.floats("frequencies", kv_heads * query, frequencies)
        }
        Rope::Fixed { name, theta } => {
            tape.name(name)?;
            tape.positive("theta", theta)
        }
    }
}

fn feed_forward(tape: &mut impl Tape, channels: usize, block: &mut FeedForwardBlock) -> Passed {
    tape.name(&mut block.name)?;
    tape.size("channels", &mut block.channels)?;
    tape.same("channels", block.channels, channels)?;
    tape.size("hidden channels", &mut block.hidden)?;
    let mut gated = block.gate.is_some();
    tape.flag("gated feed-forward", &mut gated)?;
    let hidden = block.hidden;
    rms(tape, &mut block.norm, channels)?;
    matmul(tape, &mut block.first, channels, Some(hidden))?;
    if gated {
        let gate = block.gate.get_or_insert_default();
        matmul(tape, gate, channels, Some(hidden))?;
    }
    matmul(tape, &mut block.last, hidden, Some(channels))
}

fn meta_encoder(
    tape: &mut impl Tape,
    version: u32,
    encoder: &mut MetaEncoder,
    inputs: usize,
    channels: usize,
) -> Passed {
    tape.name(&mut encoder.name)?;
    tape.whole("metadata inputs", &mut encoder.inputs)?;
    tape.same("metadata inputs", encoder.inputs, inputs)?;
    matmul(tape, &mut encoder.first, inputs, None)?;
    bias(tape, &mut encoder.first_bias, encoder.first.outputs)?;
    act(tape, version, &mut encoder.first_act)?;
    matmul(tape, &mut encoder.second, encoder.first.outputs, None)?;
    bias(tape, &mut encoder.second_bias, encoder.second.outputs)?;
    act(tape, version, &mut encoder.second_act)?;
    matmul(
        tape,
        &mut encoder.last,
        encoder.second.outputs,
        Some(channels),
    )
}

/// Channels of the policy head by version, where the file does not state them.
fn policy_channels(version: u32) -> usize {
    match version {
        ..12 => 1,
        12..16 => 2,
        _ => 4,
    }
}

fn policy_head(
    tape: &mut impl Tape,
    version: u32,
    channels: usize,
    head: &mut PolicyHead,
) -> Passed {
    tape.name(&mut head.name)?;
    if version >= STATED_POLICY {
        tape.whole("policy channels", &mut head.channels)?;
        if head.channels != 2 && head.channels != 4 {
            let found = format!("policy channels {}", head.channels);
            return Err(tape.wrong(found, "2 or 4".into()));
        }
        for _ in 0..3 {
            tape.fixed("unused number", 0)?;
        }
    } else {
        head.channels = policy_channels(version);
    }
    conv(tape, &mut head.p1, channels, None)?;
    conv(tape, &mut head.g1, channels, None)?;
    let (planes, pooled) = (head.p1.outputs, 3 * head.g1.outputs);
    norm(tape, &mut head.g_norm, head.g1.outputs)?;
    act(tape, version, &mut head.g_act)?;
    matmul(tape, &mut head.g_to_p, pooled, Some(planes))?;
    norm(tape, &mut head.p_norm, planes)?;
    act(tape, version, &mut head.p_act)?;
    conv(tape, &mut head.p2, planes, Some(head.channels))?;
    if version < METADATA {
        return matmul(tape, &mut head.pass, pooled, Some(head.channels));
    }
    matmul(tape, &mut head.pass, pooled, None)?;
    let hidden = head.pass.outputs;
    let (hidden_bias, hidden_act, last) = head.pass_more.get_or_insert_default();
    bias(tape, hidden_bias, hidden)?;
    act(tape, version, hidden_act)?;
    matmul(tape, last, hidden, Some(head.channels))
}

fn value_head(tape: &mut impl Tape, version: u32, channels: usize, head: &mut ValueHead) -> Passed {
    tape.name(&mut head.name)?;
    if version >= STATED_POLICY {
        for _ in 0..3 {
            tape.fixed("unused number", 0)?;
        }
    }
    conv(tape, &mut head.v1, channels, None)?;
    let planes = head.v1.outputs;
    norm(tape, &mut head.v_norm, planes)?;
    act(tape, version, &mut head.v_act)?;
    matmul(tape, &mut head.v2, 3 * planes, None)?;
    let hidden = head.v2.outputs;
    bias(tape, &mut head.v2_bias, hidden)?;
    act(tape, version, &mut head.v2_act)?;
    matmul(tape, &mut head.v3, hidden, Some(3))?;
    bias(tape, &mut head.v3_bias, 3)?;
    let scores = if version >= 9 { 6 } else { 4 };
    matmul(tape, &mut head.score, hidden, Some(scores))?;
    bias(tape, &mut head.score_bias, scores)?;
    conv(tape, &mut head.ownership, planes, Some(1))
}
