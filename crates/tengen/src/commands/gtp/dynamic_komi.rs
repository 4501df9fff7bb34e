//! The options of dynamic komi.

use anyhow::{Result, bail};
use clap::Args;
use go_player::{
    choice::ResignPolicy,
    dynamic_komi::{Mode, Settings, settings::MIN_POSITIONS, verdicts},
};

/// Komi that follows the game.
///
/// Winrates are White's, from 0 to 1. Options that start with `tg` turn the opposite of the default on.
#[derive(Args)]
#[command(next_help_heading = "Dynamic komi")]
pub struct KomiArgs {
    /// For giving stones: raise komi while White seems lost, and come back to the target as the game
    /// turns. Sets --max-wr 0.12 --min-wr 0.06 --wr-margin 0.03 --num-adj 1 and -r 0.
    #[arg(long)]
    handicap: bool,
    /// For won games: move komi against whoever leads, so that it plays on for more.
    /// Sets --max-wr 0.9 --min-wr 0.1 --wr-margin 0.1 --num-adj 1.
    #[arg(long)]
    nonslack: bool,
    /// Lower komi when White's winrate is above this [handicap: 0.12, nonslack: 0.9].
    #[arg(long, value_name = "RATE")]
    max_wr: Option<f64>,
    /// Raise komi when White's winrate is below this [handicap: 0.06, nonslack: 0.1].
    #[arg(long, value_name = "RATE")]
    min_wr: Option<f64>,
    /// Adjust to this far inside the range [handicap: 0.03, nonslack: 0.1].
    #[arg(long, value_name = "RATE")]
    wr_margin: Option<f64>,
    /// The komi that is played for: a game starts with it, in the score as well, and returns to it.
    #[arg(
        long,
        default_value_t = 7.5,
        allow_negative_numbers = true,
        value_name = "KOMI"
    )]
    target_komi: f64,
    /// Positions of each colour to collect before an adjustment, 8 at least; a search with a limit
    /// asks for an eighth of it at most.
    #[arg(long, default_value_t = 200, value_name = "N")]
    adj_positions: usize,
    /// How many percent of --adj-positions an adjustment rests on.
    #[arg(long, default_value_t = 4.0, value_name = "PERCENT")]
    adj_pct: f64,
    /// Most adjustments during the search for one move [with a mode: 1].
    #[arg(long, value_name = "N")]
    num_adj: Option<u32>,
    /// Beyond a komi of 7.5, trust winrates only where komi burdens the side to move.
    #[arg(long)]
    pos: bool,
    /// Beyond a komi of 7.5, trust winrates only where komi helps the side to move.
    #[arg(long)]
    neg: bool,
    /// Do not test the network to find out about --pos and --neg.
    #[arg(long)]
    tg_auto_pn: bool,
    /// Always look at the board through one symmetry, 0 to 7; anything else draws one at random.
    #[arg(
        long,
        default_value_t = -1,
        allow_negative_numbers = true,
        value_name = "N"
    )]
    fixed_symmetry: i32,
    /// Do not let a position whose winrate is not trusted take that of its best move.
    #[arg(long)]
    tg_sure_backup: bool,
    /// Let komi leave the range of -7.5 to 7.5 on the turn whose winrates are not trusted, too.
    #[arg(long)]
    tg_orig_policy: bool,
    /// Judge moves never tried by the network's opinion of their parent (with a mode), or by its mean.
    #[arg(long)]
    tg_dyn_fpu: bool,
    /// Let a leader play what its search likes, without a second look at the komi that is played for.
    #[arg(long)]
    tg_no_guard: bool,
    /// Never give White more than this.
    #[arg(long, allow_negative_numbers = true, value_name = "KOMI")]
    max_komi: Option<f64>,
    /// Never give White less than this.
    #[arg(long, allow_negative_numbers = true, value_name = "KOMI")]
    min_komi: Option<f64>,
}

impl KomiArgs {
    /// The settings, or what is wrong with them.
    pub fn settings(&self) -> Result<Settings> {
        if self.pos && self.neg {
            bail!(
                "--pos and --neg together leave no winrate to trust: give one of them, or none and \
                 let the network be tested"
            );
        }
        let mut settings = Settings::for_mode(self.mode());
        settings.max_winrate = self.max_wr.unwrap_or(settings.max_winrate);
        settings.min_winrate = self.min_wr.unwrap_or(settings.min_winrate);
        settings.margin = self.wr_margin.unwrap_or(settings.margin);
        settings.target_komi = self.target_komi;
        settings.positions = self.adj_positions.max(MIN_POSITIONS);
        settings.kept_percent = self.adj_pct;
        settings.adjustments_per_search = self.num_adj.unwrap_or(settings.adjustments_per_search);
        settings.trust.negative = !self.pos;
        settings.trust.positive = !self.neg;
        settings.test_network ^= self.tg_auto_pn;
        settings.fixed_symmetry = u8::try_from(self.fixed_symmetry)
            .ok()
            .filter(|&number| usize::from(number) < go::Symmetry::COUNT);
        settings.sure_backup ^= self.tg_sure_backup;
        settings.original_policy ^= self.tg_orig_policy;
        settings.dynamic_fpu ^= self.tg_dyn_fpu;
        settings.guard = !self.tg_no_guard;
        settings.max_komi = self.max_komi.unwrap_or(settings.max_komi);
        settings.min_komi = self.min_komi.unwrap_or(settings.min_komi);
        settings.verdict_file = verdicts::default_file();
        settings.check()?;
        Ok(settings)
    }

    /// Both at once are the second one, with the first one's patience.
    fn mode(&self) -> Option<Mode> {
        if self.nonslack {
            Some(Mode::NonSlack)
        } else {
            self.handicap.then_some(Mode::Handicap)
        }
    }

    /// When to resign if nobody says.
    pub fn resign(&self) -> ResignPolicy {
        if self.handicap {
            ResignPolicy::Never
        } else {
            ResignPolicy::Default
        }
    }
}
